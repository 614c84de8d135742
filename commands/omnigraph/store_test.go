package omnigraph

import "testing"

func TestScheme(t *testing.T) {
	for store, want := range map[string]storage{
		"g.omni":          localPath,
		"/srv/g.omni":     localPath,
		"file:///srv/g":   localPath,
		"file:/srv/g":     localPath,
		"s3:b/g":          localPath, // a file of this name: it is no URI for omnigraph
		"C:\\g":           localPath,
		"s3://b/g":        objectStorage,
		"az://c/g":        objectStorage,
		"gs://b/g":        objectStorage,
		"http://h":        otherScheme,
		"https://h":       otherScheme,
		"ftp://h":         otherScheme,
		"/srv/http://odd": otherScheme, // unknown rather than locked and repaired
	} {
		if got := scheme(store); got != want {
			t.Errorf("%q: %d, want %d", store, got, want)
		}
	}
}

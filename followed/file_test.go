package followed_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"outlast/followed"
	"outlast/plugin/policy"
)

func envelope(name string, serial int64) *followed.Envelope {
	return &followed.Envelope{
		Name: name, Serial: serial, Time: time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC), Document: strings.TrimSpace(policy.Source("network")),
	}
}

func written(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := followed.File{Text: text, Source: "oci://registry.example/fleet/network:stable", Pulled: time.Unix(1_800_000_000, 0), Key: "RW", Signature: "untrusted"}
	if err := f.Write(dir, "network"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	e := envelope("network", 7)
	e.Expires = e.Time.Add(time.Hour)
	text := string(e.Encode())
	dir := written(t, text)
	r, err := followed.Read(dir, "network")
	if err != nil {
		t.Fatal(err)
	}
	same := r.Text == text && r.Serial == 7 && r.Time.Equal(e.Time) && r.Expires.Equal(e.Expires) && r.Pulled.Unix() == 1_800_000_000 &&
		r.Source == "oci://registry.example/fleet/network:stable" && r.Key == "RW" && r.Signature == "untrusted"
	built, _ := policy.BuiltIn("network")
	if !same || r.Policy.Digest != built.Digest {
		t.Errorf("read %+v", r)
	}
	if names, err := followed.Names(dir); err != nil || len(names) != 1 || names[0] != "network" {
		t.Errorf("names %q, %v", names, err)
	}
	whole, _ := os.ReadFile(followed.Path(dir, "network"))
	for what, text := range map[string]string{"an envelope": text, "a file": string(whole), "a document": e.Document} {
		if followed.Document(text) != e.Document {
			t.Errorf("%s is not taken for its document", what)
		}
	}
}

// Each fault of an envelope and of its document is told, with its place.
func TestFaultsOfAnEnvelope(t *testing.T) {
	good := string(envelope("network", 7).Encode())
	for _, test := range []struct{ old, new, want string }{
		{`"serial":7`, `"serial":0`, "serial: "},
		{`"serial":7`, `"serial":7.5`, "serial: "},
		{`"serial":7,`, "", "serial: is missing"},
		{`"version":1,"name"`, `"version":2,"name"`, "version: "},
		{`"serial":7`, `"serial":7,"more":1`, "more: is not a known field"},
		{`"serial":7`, `"serial":7,"serial":7`, "serial"},
		{`"name":"network","serial"`, `"name":"curl","serial"`, `name: is "curl", and the document's is "network"`},
		{"2026-03-03T10:00:00Z", "yesterday", "time: expected a time"},
		{`"serial":7`, `"serial":7,"expires":"2020-01-01T00:00:00Z"`, "expires: is not after time"},
		{`"max_wait": "150s"`, `"max_wait": "150"`, "document.budgets.unavailable.max_wait: "},
		{good, "{", "not JSON"},
		{good, `{"version":1,"name":"x","serial":1,"time":"2026-03-03T10:00:00Z","document":[]}`, "document: expected an object"},
	} {
		text := strings.Replace(good, test.old, test.new, 1)
		if text == good {
			t.Fatalf("%q is not there", test.old)
		}
		_, err := followed.ParseEnvelope(text)
		if err == nil || !strings.Contains(strings.Join(followed.Faults(err), "\n"), test.want) {
			t.Errorf("%s: %v, and not %q", test.new, err, test.want)
		}
	}
	two := strings.Replace(strings.Replace(good, `"serial":7`, `"serial":0`, 1), `"150s"`, `"150"`, 1)
	if _, err := followed.ParseEnvelope(two); len(followed.Faults(err)) != 2 {
		t.Errorf("faults: %q", followed.Faults(err))
	}
}

// A reader takes nothing that somebody else could have put there, or that is not
// whole, and does not hang.
func TestWhatAReaderRefuses(t *testing.T) {
	good := string(envelope("network", 7).Encode())
	edit := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), old) {
				t.Fatalf("%q is not there: %v", old, err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		damage func(t *testing.T, path string)
		want   string
	}{
		"damaged":              {edit("150s", "900s"), "damaged"},
		"cut":                  {func(_ *testing.T, path string) { _ = os.Truncate(path, 100) }, "not JSON"},
		"another form":         {edit(`"version":1,"envelope"`, `"version":2,"envelope"`), "version"},
		"writable by others":   {func(_ *testing.T, path string) { _ = os.Chmod(path, 0o666) }, "can be written by others"},
		"a folder of others":   {func(_ *testing.T, path string) { _ = os.Chmod(filepath.Dir(path), 0o777) }, "can be written by others"},
		"a link":               {func(_ *testing.T, path string) { _ = os.Rename(path, path+"x"); _ = os.Symlink(path+"x", path) }, "too many levels"},
		"a folder in its name": {func(_ *testing.T, path string) { _ = os.Remove(path); _ = os.Mkdir(path, 0o755) }, "no regular file"},
		"huge":                 {func(_ *testing.T, path string) { _ = os.Truncate(path, 1<<40) }, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("modes and links are Unix's")
			}
			dir := written(t, good)
			test.damage(t, followed.Path(dir, "network"))
			_, err := followed.Read(dir, "network")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, and not %q", err, test.want)
			}
		})
	}
	if _, err := followed.Read(written(t, good), "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	renamed := written(t, good)
	if err := os.Rename(followed.Path(renamed, "network"), followed.Path(renamed, "other")); err != nil {
		t.Fatal(err)
	}
	if _, err := followed.Read(renamed, "other"); err == nil || !strings.Contains(err.Error(), "has the policy network") {
		t.Errorf("another's name: %v", err)
	}
}

// What a later release adds is passed over by a reader, and the file that is there
// stays whole while it is replaced.
func TestReplacedWhole(t *testing.T) {
	dir := written(t, strings.Replace(string(envelope("network", 1).Encode()), `"serial":1`, `"serial":1,"later":true`, 1))
	if _, err := followed.Read(dir, "network"); err != nil {
		t.Fatal(err)
	}
	before := followed.Look(dir, "network")
	done := make(chan error)
	go func() {
		var err error
		for serial := int64(2); serial < 60 && err == nil; serial++ {
			f := followed.File{Text: string(envelope("network", serial).Encode())}
			err = f.Write(dir, "network")
		}
		done <- err
	}()
	for last := int64(0); ; {
		r, err := followed.Read(dir, "network")
		if err != nil || r.Serial < last {
			t.Fatalf("after %d: %v", last, err)
		}
		last = r.Serial
		select {
		case err := <-done:
			if err != nil || followed.Look(dir, "network").Same(before) {
				t.Errorf("%v", err)
			}
			return
		default:
		}
	}
}

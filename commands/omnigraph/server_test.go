package omnigraph

import (
	"os"
	"outlast/internal/plainyaml"
	"path/filepath"
	"strings"
	"testing"
)

const operatorConfig = `# mine
operator: {actor: act-me}
servers:
  prod: {url: "https://graph.example.com/og/"}
  dev:
    url: http://127.0.0.1:8080
    since: 2026
  one-graph:
    url: http://127.0.0.1:8080/graphs/kb
  "odd name":
    url: http://odd
  secret:
    url: http://me:hunter2@graph:8080
  nothing:
  number: {url: 8080}
  list: {url: [http://a]}
  port: {url: "tcp://graph:1"}
profiles:
  staging:
    server: dev
    default_graph: kb
  url: {server: "http://by-url:1"}
  cluster: {cluster: brain}
  store: {store: file:///data/dev.omni}
  both: {server: dev, store: file:///data/dev.omni}
  none: {default_graph: kb}
  gone: {server: missing}
defaults:
  output: json
`

// home is a home directory with a configuration, and the environment for it.
func home(t testing.TB, config string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".omnigraph"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".omnigraph", "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + dir}
}

func TestServer(t *testing.T) {
	t.Chdir(t.TempDir())
	const dev, url, prod = "http://127.0.0.1:8080", "http://by-url:1", "https://graph.example.com/og/"
	for _, c := range []struct{ line, env, defaults, want, why string }{
		// The command line.
		{"query q --server http://graph:1", "", "server: prod", "http://graph:1", ""},
		{"query q --server=https://graph/og/", "", "", "https://graph/og/", ""},
		{"--server http://graph:1 query q", "", "", "http://graph:1", ""},
		{"query q --server HTTP://graph:1", "", "", "HTTP://graph:1", ""},
		{"query q --server prod", "", "server: dev", prod, ""},
		{"query q --server dev --graph kb", "OMNIGRAPH_PROFILE=url", "", dev, ""},
		{"query q --server dev --profile url", "", "", dev, ""},
		{"query q --server one-graph", "", "", "http://127.0.0.1:8080/graphs/kb", ""},
		{"mutate m --server secret", "", "", "http://me:hunter2@graph:8080", ""},
		{"graphs list --server dev", "", "", dev, ""},
		{"cluster apply --server dev", "", "", dev, ""},
		{"query q --server missing", "", "server: dev", "", "no server of the name"},
		{"query q --server nothing", "", "", "", "no server of the name"},
		{"query q --server number", "", "", "", "plain mappings"},
		{"query q --server list", "", "", "", "plain mappings"},
		{"query q --server port", "", "", "", "no URL of HTTP"},
		{"query q --server tcp://graph:1", "", "", "", "no URL of HTTP"},
		{"query q --server servers", "", "", "", "no server of the name"},
		// Addresses that are no server's, and two at once.
		{"query q --store file:///g.omni", "OMNIGRAPH_PROFILE=staging", "server: dev", "", ""},
		{"export /g.omni", "OMNIGRAPH_PROFILE=staging", "server: dev", "", ""},
		{"export s3://b/g.omni", "", "server: dev", "", ""},
		{"optimize --cluster brain --graph kb", "", "server: dev", "", ""},
		{"export /g.omni --profile staging", "", "", "", ""},
		{"export http://graph:1", "", "server: dev", "", "not that of a server"},
		{"query q --target somewhere", "", "server: dev", "", "not that of a server"},
		{"export /g.omni --server dev", "", "", "", "more than one address"},
		{"query q --store /g.omni --server dev", "", "", "", "more than one address"},
		{"query q --cluster c --server dev", "", "", "", "more than one address"},
		// A stored query's name is no address.
		{"query /g.omni", "", "server: dev", dev, ""},
		// Profiles.
		{"query q --profile staging", "", "server: prod", dev, ""},
		{"query q --profile url", "OMNIGRAPH_PROFILE=staging", "", url, ""},
		{"query q", "OMNIGRAPH_PROFILE=staging", "server: prod", dev, ""},
		{"query q", "OMNIGRAPH_PROFILE=url OMNIGRAPH_PROFILE=staging", "", dev, ""},
		{"query q", "OMNIGRAPH_PROFILE=", "server: prod", prod, ""},
		{"query q --profile cluster", "", "server: dev", "", ""},
		{"query q --profile store", "", "server: dev", "", ""},
		{"query q --profile both", "", "server: dev", "", "more than one address for the profile"},
		{"query q --profile none", "", "server: dev", "", "no address for the profile"},
		{"query q --profile missing", "", "server: dev", "", "no address for the profile"},
		{"query q --profile gone", "", "server: dev", "", "no server of the name"},
		{"query q", "OMNIGRAPH_PROFILE=missing", "server: dev", "", "that OMNIGRAPH_PROFILE gives"},
		// Defaults.
		{"query q", "", "server: dev", dev, ""},
		{"branch create b", "", "server: dev", dev, ""},
		{"query q", "", "server: 'http://default:1'", "http://default:1", ""},
		{"query q", "", "store: file:///g.omni", "", ""},
		{"query q", "", "server: dev\n  store: file:///g.omni", "", "two default addresses"},
		{"query q", "", "server: missing", "", "no server of the name"},
		{"query q", "", "server: 5", "", "plain mappings"},
		{"query q", "", "server: null", "", "names a server"},
		{"query q", "", "", "", "names a server"},
		// What has its own ways, or goes nowhere.
		{"alias mine", "", "server: dev", "", "alias"},
		{"alias mine --server dev", "", "", dev, ""},
		{"cluster status", "", "server: dev", "", ""},
		{"login prod", "", "server: dev", "", ""},
		{"version", "", "server: dev", "", ""},
		{"--help", "", "server: dev", "", ""},
	} {
		config := operatorConfig
		if c.defaults != "" {
			config += "  " + c.defaults + "\n"
		}
		env := append(home(t, config), strings.Fields(c.env)...)
		got, why := Server(append([]string{"omnigraph"}, strings.Fields(c.line)...), env)
		if got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s, %s, defaults %q: %q because %q, want %q because %q", c.line, c.env, c.defaults, got, why, c.want, c.why)
		}
		if strings.Contains(why, "hunter2") {
			t.Errorf("%s: a password in %q", c.line, why)
		}
	}
}

// Where the configuration is.
func TestWhereTheConfigurationIs(t *testing.T) {
	t.Chdir(t.TempDir())
	argv := []string{"omnigraph", "query", "q"}
	at := func(path, server string) {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "config.yaml"), []byte("defaults: {server: 'http://"+server+"'}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	at(filepath.Join(dir, ".omnigraph"), "home")
	at(filepath.Join(dir, "other"), "other")
	at(dir, "itself")
	at("here", "relative")
	for _, c := range []struct{ env, want string }{
		{"HOME=" + dir, "http://home"},
		{"HOME=/nowhere HOME=" + dir, "http://home"},
		{"HOME=/nowhere OMNIGRAPH_HOME=" + dir + "/other", "http://other"},
		{"HOME=" + dir + " OMNIGRAPH_HOME=~/other", "http://other"},
		{"HOME=" + dir + " OMNIGRAPH_HOME=~", "http://itself"},
		{"HOME=/nowhere OMNIGRAPH_HOME=here", "http://relative"},
		{"HOME=" + dir + " OMNIGRAPH_HOME=", ""},
		{"HOME=" + dir + " OMNIGRAPH_HOME=/nowhere", ""},
		{"HOME=/nowhere", ""},
	} {
		if got, why := Server(argv, strings.Fields(c.env)); got != c.want || (got == "") != (why != "") {
			t.Errorf("%s: %q because %q, want %q", c.env, got, why, c.want)
		}
	}
}

// A folder's context may say where a command goes.
func TestContext(t *testing.T) {
	env := home(t, operatorConfig+"  server: dev\n")
	for _, line := range []string{"query q", "read q", "mutate m", "change m", "load --data d", "commit list", "commit show c"} {
		t.Chdir(t.TempDir())
		argv := append([]string{"omnigraph"}, strings.Fields(line)...)
		if got, why := Server(argv, env); got != "http://127.0.0.1:8080" {
			t.Errorf("%s without one: %q because %q", line, got, why)
		}
		for name, write := range map[string]func() error{
			"a file":   func() error { return os.WriteFile(contextFile, []byte("version: 1"), 0o600) },
			"garbage":  func() error { return os.WriteFile(contextFile, []byte("\x00"), 0) },
			"a folder": func() error { return os.Mkdir(contextFile, 0o700) },
			"a link":   func() error { return os.Symlink("/nowhere", contextFile) },
		} {
			if err := os.MkdirAll(filepath.Dir(contextFile), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := write(); err != nil {
				t.Fatal(err)
			}
			if got, why := Server(argv, env); got != "" || !strings.Contains(why, "context") {
				t.Errorf("%s with %s: %q because %q", line, name, got, why)
			}
			for _, more := range []string{"--direct", "--profile staging", "--server dev"} {
				if got, why := Server(append(argv, strings.Fields(more)...), env); got != "http://127.0.0.1:8080" {
					t.Errorf("%s %s with %s: %q because %q", line, more, name, got, why)
				}
			}
			if got, why := Server([]string{"omnigraph", "branch", "list"}, env); got != "http://127.0.0.1:8080" {
				t.Errorf("branch list with %s: %q because %q", name, got, why)
			}
			if err := os.RemoveAll(contextFile); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A configuration that cannot be read, or that may mean something else to
// omnigraph, names no server; it is no error, and nothing waits for it.
func TestOddConfigurations(t *testing.T) {
	t.Chdir(t.TempDir())
	argv := []string{"omnigraph", "query", "q", "--server", "prod"}
	for name, text := range map[string]string{
		"empty":           "",
		"blanks":          " \n\n",
		"a word":          "servers",
		"a list":          "- servers",
		"no YAML":         "servers: [prod\nx: }",
		"tabs":            "servers:\n\tprod:\n\t\turl: http://a",
		"NUL":             "servers: {prod: {url: 'http://a\x00'}}\x00\x00",
		"bad UTF-8":       "servers: {\xff\xfe: 1}",
		"an anchor":       "a: &a {prod: {url: http://a}}\nservers: *a",
		"a merge":         "a: &a {url: http://a}\nservers: {prod: {<<: *a}}",
		"a tag":           "servers: {prod: {url: !!str http://a}}",
		"two documents":   "servers: {prod: {url: http://a}}\n---\nservers: {prod: {url: http://b}}",
		"twice":           "servers:\n  prod: {url: http://a}\n  prod: {url: http://b}",
		"twice, above":    "servers: {prod: {url: http://a}}\nservers: {prod: {url: http://b}}",
		"a list of them":  "servers: [{prod: {url: http://a}}]",
		"a bare name":     "servers: {prod: http://a}",
		"no url":          "servers: {prod: {uri: http://a}}",
		"a number":        "servers: {prod: {url: 1}}",
		"deep":            strings.Repeat("[", 100_000),
		"deeper":          "a: " + strings.Repeat("{a: ", 100_000),
		"long":            "servers: {prod: {url: http://a}}\n#" + strings.Repeat("a", maxConfig),
		"a line of colon": strings.Repeat("a: ", 1000),
	} {
		if got, why := Server(argv, home(t, text)); got != "" || why == "" {
			t.Errorf("%s: %q because %q", name, got, why)
		}
	}
}

// Whatever the file holds, it ends, and what it names is a text of it.
func FuzzConfig(f *testing.F) {
	f.Add(operatorConfig)
	f.Add("servers: {prod: {url: 'http://a'}}")
	f.Add("servers:\n  prod:\n    url: |\n      http://a\n")
	f.Add("? servers\n: prod")
	f.Add("\"servers\": {\"prod\": {\"url\": \"http:\\u002f\\u002fa\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		node, err := plainyaml.Parse(text)
		if err != nil {
			return
		}
		root := mapping{node}
		url, err := root.texts("servers", "prod", "url")
		if err == nil && url != "" && !strings.Contains(text, "servers") && !strings.Contains(text, `\`) {
			t.Errorf("%q of %q", url, text)
		}
	})
}

//go:build unix

package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMakeCheckRemove(t *testing.T) {
	root := tree(t, "self/outlast 755", "bin/", "real/q 755")
	self, path := filepath.Join(root, "self/outlast"), in(root, "bin", "real")
	want := Link{Path: filepath.Join(root, "bin/q"), Outlast: self, Command: filepath.Join(root, "real/q")}
	for range 2 { // the second one finds it made
		if got, err := Make("q", filepath.Join(root, "bin"), self, path); err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if got, err := Check("q", self, path); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if removed, err := Remove("q", "", self, path); err != nil || removed != want.Path {
		t.Errorf("%q, %v", removed, err)
	}
	onlyIn(t, filepath.Join(root, "bin"))
	if _, err := Check("q", self, path); err == nil || !strings.Contains(err.Error(), want.Command+" itself") {
		t.Errorf("%v", err)
	}
}

// What would have no effect, or take another's place, is not made, and nothing
// is left of the try.
func TestMakeRefuses(t *testing.T) {
	root := tree(t, "self/outlast 755", "bin/", "real/q 755", "full/q", "file", "other/q -> ROOT/real/q", "dangling/q -> ROOT/gone/q", "folder/q/")
	self := filepath.Join(root, "self/outlast")
	for _, c := range []struct {
		dir  string
		path []string
		want string
	}{
		{"missing", []string{"missing", "real"}, "missing: no such file or directory"},
		{"file", []string{"file", "real"}, "file is no folder"},
		{"bin", []string{"real"}, "bin has to be on PATH, before ROOT/real, where q is; with PATH=ROOT/bin:$PATH it is"},
		{"bin", []string{"real", "bin"}, "bin has to be on PATH, before ROOT/real"},
		{"bin", []string{"bin", "self"}, "there is no q on PATH for the link to run: q: command not found"},
		{"real", []string{"real"}, "real/q is there already, and is no link to outlast"},
		{"full", []string{"full", "real"}, "full/q is there already, and is no link to outlast"},
		{"other", []string{"other", "real"}, "other/q is there already, and is no link to outlast"},
		{"dangling", []string{"dangling", "real"}, "dangling/q is there already, and is no link to outlast"},
		{"folder", []string{"folder", "real"}, "folder/q is there already, and is no link to outlast"},
	} {
		before := listing(t, root)
		_, err := Make("q", filepath.Join(root, c.dir), self, in(root, c.path...))
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), root, "ROOT"), c.want) {
			t.Errorf("%s: %v\nwant %s", c.dir, err, c.want)
		}
		if after := listing(t, root); after != before {
			t.Errorf("%s: left %s", c.dir, after)
		}
	}
}

// A folder that PATH has by a relative name is there only for some.
func TestMakeWantsTheFolderOnPathForAll(t *testing.T) {
	root := tree(t, "self/outlast 755", "rel/bin/", "real/q 755")
	t.Chdir(root)
	_, err := Make("q", "rel/bin", filepath.Join(root, "self/outlast"), in(root, "rel/bin", "real"))
	if err == nil || !strings.Contains(err.Error(), "has to be on PATH") {
		t.Errorf("%v", err)
	}
}

// A link to a tool that has moved is pointed to where the tool is now.
func TestMakeMendsOurs(t *testing.T) {
	for _, old := range []string{"bin/q -> ROOT/old/outlast-1.0", "bin/q -> ROOT/self/hard"} {
		root := tree(t, "self/outlast 755", "real/q 755", old)
		self, path := filepath.Join(root, "self/outlast"), in(root, "bin", "real")
		if strings.HasSuffix(old, "hard") {
			if err := os.Link(self, filepath.Join(root, "self/hard")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Make("q", filepath.Join(root, "bin"), self, path); err != nil {
			t.Errorf("%s: %v", old, err)
		}
		if !sameFile(filepath.Join(root, "bin/q"), self) {
			t.Errorf("%s: it leads elsewhere", old)
		}
		onlyIn(t, filepath.Join(root, "bin"), "q")
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	root := tree(t, "self/outlast 755", "bin/q -> ROOT/self/outlast", "real/q 755", "empty/")
	self := filepath.Join(root, "self/outlast")
	for want, path := range map[string]string{
		"the link ROOT/bin/q has no effect, as ROOT/real/q comes before it on PATH": in(root, "real", "bin"),
		"the link ROOT/bin/q has nothing to run: q: command not found":              in(root, "bin"),
		"no link: a program that calls q gets ROOT/real/q itself":                   in(root, "empty", "real"),
		"no link, and no q on PATH either":                                          in(root, "empty"),
	} {
		_, err := Check("q", self, path)
		if err == nil || strings.ReplaceAll(err.Error(), root, "ROOT") != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestRemoveLeavesWhatIsNotOurs(t *testing.T) {
	root := tree(t, "self/outlast 755", "real/q 755", "dangling/q -> ROOT/gone/q", "empty/", "old/q -> ROOT/gone/outlast")
	self := filepath.Join(root, "self/outlast")
	for dir, want := range map[string]string{
		"real":     "real/q is no link to outlast",
		"dangling": "dangling/q is no link to outlast",
		"empty":    "empty/q: no such file or directory",
		"":         "no folder of PATH has a link named q to outlast",
	} {
		before := listing(t, root)
		if dir != "" {
			dir = filepath.Join(root, dir)
		}
		_, err := Remove("q", dir, self, in(root, "real", "dangling", "empty"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", dir, err, want)
		}
		if listing(t, root) != before {
			t.Errorf("%q: something is gone", dir)
		}
	}
	if _, err := Remove("q", "", self, in(root, "real", "old")); err != nil {
		t.Errorf("a link whose tool is gone: %v", err)
	}
	onlyIn(t, filepath.Join(root, "old"))
}

func onlyIn(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s has %q, want %q", dir, got, want)
	}
}

// listing is all files with their kinds and where links lead.
func listing(t *testing.T, root string) string {
	t.Helper()
	var all []string
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		target, _ := os.Readlink(path)
		all = append(all, path+" "+info.Mode().String()+" "+target)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

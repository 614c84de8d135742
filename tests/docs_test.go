package tests

import (
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	fences   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inCode   = regexp.MustCompile("`[^`\n]*`")
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	named    = regexp.MustCompile(`<a id="([^"]+)">`)
	dropped  = regexp.MustCompile(`[^\pL\pN _-]`) // of a heading, in its anchor
)

// pages are the repository's Markdown files by their paths from its root, with
// blocks of code left out.
func pages(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	all := map[string]string{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = fences.ReplaceAllString(string(text), "")
	}
	return all
}

// anchors are what a link can name in a page: its headings as GitHub spells them
// (lower case, words joined by hyphens, a number behind a name that is taken),
// and the names that it gives itself.
func anchors(text string) (names []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, m := range headings.FindAllStringSubmatch(text, -1) {
		title := links.ReplaceAllString(m[1], "]")
		name := strings.ReplaceAll(strings.ToLower(dropped.ReplaceAllString(title, "")), " ", "-")
		unique := name
		for n := 1; slices.Contains(names, unique); n++ {
			unique = name + "-" + strconv.Itoa(n)
		}
		names = append(names, unique)
	}
	return names
}

// broken are the links of the page at name that lead nowhere.
func broken(all map[string]string, name string) (bad []string) {
	for _, m := range links.FindAllStringSubmatch(inCode.ReplaceAllString(all[name], ""), -1) {
		to, err := url.Parse(m[1])
		if err == nil && to.Scheme != "" {
			continue
		}
		if err != nil || !leads(all, name, to) {
			bad = append(bad, m[1])
		}
	}
	return bad
}

// leads says whether a link of the page at from leads to a file of the
// repository and, if it names one, to an anchor in it.
func leads(all map[string]string, from string, to *url.URL) bool {
	target := from
	if to.Path != "" {
		target = path.Join(path.Dir(from), to.Path)
	}
	if text, ok := all[target]; ok {
		return to.Fragment == "" || slices.Contains(anchors(text), to.Fragment)
	}
	_, err := os.Stat(filepath.Join("..", target))
	return err == nil && to.Fragment == ""
}

// Every link within the repository leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	all := pages(t)
	found := 0
	for name, text := range all {
		found += len(links.FindAllString(text, -1))
		for _, link := range broken(all, name) {
			t.Errorf("%s: %s leads nowhere", name, link)
		}
	}
	if found < 50 {
		t.Errorf("only %d links were found", found)
	}
	if got := anchors("# x\n## X\n<a id=\"y\"></a>"); !slices.Equal(got, []string{"y", "x", "x-1"}) {
		t.Errorf("anchors %q", got)
	}
	wrong := map[string]string{
		"docs/a.md": "# The `one`: two, three\n[a](../README.md) [b](none.md) [c](#the-one-two-three) [d](#the-one)\n" +
			"[e](b.md#x) [f](b.md#x-1) [g](b.md#x-2) [h](https://example.org/none) `[i](none)`",
		"docs/b.md": "# x\n## X\n",
	}
	if bad := broken(wrong, "docs/a.md"); !slices.Equal(bad, []string{"none.md", "#the-one", "b.md#x-2"}) {
		t.Errorf("of a page with broken links these were found: %q", bad)
	}
}

// What belongs to an item of a list is indented by four spaces: the site's Markdown
// takes less for the list's own level.
func TestListsAreIndentedByFour(t *testing.T) {
	less := regexp.MustCompile(`(?m)^ {1,3}\S.*$`)
	for name, text := range pages(t) {
		for _, line := range less.FindAllString(text, -1) {
			t.Errorf("%s: %q", name, line)
		}
	}
}

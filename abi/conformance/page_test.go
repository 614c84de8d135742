package conformance

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/abi/schema"
)

const (
	fence = "```"
	page  = `
` + fence + `json send decide
{"policy":"omnigraph","call":{"remote":true,"write":false},"event":{"type":"cancelled","now_us":7}}
` + fence + `
Text.
` + fence + `json answer
{"v":1,"ok":{"action":{"type":"stop","outcome":{"type":"cancelled","effects":"none","attempts":0,"elapsed_us":0,"message":"cancelled after 0 attempts over 0 s","history":[]}}}}
` + fence + `
` + fence + `json send run
{"policy":"omnigraph","call":{"remote":true,"write":false,"started_us":0}}
` + fence + `
` + fence + `json gets outlast_attempt
{"type":"retry","attempt":1,"delay_us":0}
` + fence + `
` + fence + `json gives
{"type":"attempted","now_us":5,"result":{"exit_code":0}}
` + fence + `
` + fence + `json answer
{"v":1,"ok":{"outcome":{"type":"ok","effects":"none","attempts":1,"elapsed_us":5,"message":"succeeded after 1 attempt over 0 s","history":[]}}}
` + fence + `
`
)

// rightPage is the page with the bytes that direct gives, whatever these are.
func rightPage(t *testing.T) string {
	t.Helper()
	updated, err := UpdatePage(t.Context(), direct{}, []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	return string(updated)
}

func TestCheckPage(t *testing.T) {
	right := rightPage(t)
	if problems := CheckPage(t.Context(), direct{}, []byte(right)); problems != nil {
		t.Errorf("a page that is right: %q", problems)
	}
	for what, wrong := range map[string]string{
		"a byte of an answer":           strings.Replace(right, `"elapsed_us":5`, `"elapsed_us":6`, 1),
		"a byte of what a function got": strings.Replace(right, `"delay_us":0`, `"delay_us":1`, 1),
		"another function":              strings.Replace(right, "gets outlast_attempt", "gets outlast_sleep", 1),
		"a space":                       strings.Replace(right, `"v":1`, `"v": 1`, 1),
	} {
		if CheckPage(t.Context(), direct{}, []byte(wrong)) == nil {
			t.Errorf("%s is not seen", what)
		}
	}
}

func TestReadPageRefuses(t *testing.T) {
	block := func(words string) string { return fence + "json " + words + "\n{}\n" + fence + "\n" }
	for what, text := range map[string]string{
		"nothing sent":         block("answer"),
		"nothing answered":     block("send decide"),
		"two answers":          block("send decide") + block("answer") + block("answer"),
		"a call not answered":  block("send run") + block("gets outlast_now") + block("answer"),
		"an answer to no call": block("send run") + block("gives") + block("answer"),
		"an unknown word":      block("send run") + block("says") + block("answer"),
		"two lines":            fence + "json send run\n{\n}\n" + fence + "\n",
		"no end":               fence + "json send run\n{}",
	} {
		if x, err := ReadPage([]byte(text)); err == nil {
			t.Errorf("%s: %+v", what, x)
		}
	}
}

// An update puts every byte right, and the states in what is sent later too.
func TestUpdatePage(t *testing.T) {
	right := rightPage(t)
	text := `
` + fence + `json send decide
{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1},"event":{"type":"attempted","now_us":7,"result":{"timed_out":true}}}
` + fence + `
` + fence + `json answer
{"state":"ONE"}
` + fence + `
` + fence + `json send decide
{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1},"state":"ONE","event":{"type":"cancelled","now_us":9}}
` + fence + `
` + fence + `json answer
{}
` + fence + "\n" + strings.Replace(strings.Replace(right, `"elapsed_us":5`, `"elapsed_us":6`, 1), `"delay_us":0`, `"delay_us":1`, 1)
	updated, err := UpdatePage(t.Context(), direct{}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if problems := CheckPage(t.Context(), direct{}, updated); problems != nil {
		t.Errorf("%q", problems)
	}
	if strings.Contains(string(updated), "ONE") || !strings.HasSuffix(string(updated), right) {
		t.Errorf("got %s", updated)
	}
}

func contractPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the Go types and the schemas have, the page has.
// toolFiles are the schemas of files that the tool writes, which are no
// messages of the contract.
var toolFiles = []string{"log-event.json", "report.json", "outages.json"}

func TestPageHasEveryWord(t *testing.T) {
	text := contractPage(t)
	for name, word := range words(t) {
		if name != "Release" && !strings.Contains(text, "`"+word+"`") {
			t.Errorf("the page does not have %s, `%s`", name, word)
		}
	}
	files, err := schema.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if slices.Contains(toolFiles, file.Name()) {
			continue
		}
		body, err := schema.Files.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		var s any
		if err := json.Unmarshal(body, &s); err != nil {
			t.Fatal(err)
		}
		for _, name := range properties(s) {
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "."+name+"`") && !strings.Contains(text, `"`+name+`"`) {
				t.Errorf("%s has the member %q, which the page does not", file.Name(), name)
			}
		}
	}
}

// properties are the names of all members that a schema describes.
func properties(s any) []string {
	var out []string
	switch v := s.(type) {
	case []any:
		for _, item := range v {
			out = append(out, properties(item)...)
		}
	case map[string]any:
		for name, value := range v {
			if members, ok := value.(map[string]any); ok && name == "properties" {
				for member := range members {
					out = append(out, member)
				}
			}
			out = append(out, properties(value)...)
		}
	}
	return out
}

func TestPageHasEveryLimit(t *testing.T) {
	text := contractPage(t)
	_, limits, found := strings.Cut(text, "\n## Limits\n")
	limits, _, ended := strings.Cut(limits, "\n## ")
	if !found || !ended {
		t.Fatal("there is no section on limits")
	}
	for _, n := range []string{
		thousands(abi.MaxTextBytes), thousands(abi.MaxStateBytes), thousands(abi.MaxErrorBytes), thousands(abi.MaxAttempts),
		"| " + thousands(abi.MaxRunAttempts) + " |", "first " + thousands(abi.HistoryEnds), "| " + thousands(abi.MaxDepth) + " arrays",
		strconv.Itoa(abi.MaxRequestBytes>>20) + " MiB", strconv.Itoa(abi.MaxDocumentBytes>>10) + " KiB",
	} {
		if !strings.Contains(limits, n) {
			t.Errorf("the limits do not have %q", n)
		}
	}
	if want := "Version " + strconv.Itoa(abi.Major) + "." + strconv.Itoa(abi.Minor) + "."; !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// thousands is n as the page writes numbers.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Whatever a page has, it is read or refused, and never more than it has.
func FuzzReadPage(f *testing.F) {
	f.Add(page)
	f.Add(fence + "json send run\n{}\n" + fence + "\n" + fence + "json answer\n{}\n" + fence)
	f.Fuzz(func(t *testing.T, text string) {
		exchanges, err := ReadPage([]byte(text))
		if err != nil {
			return
		}
		lines := strings.Split(text, "\n")
		for _, x := range exchanges {
			for _, b := range []*Block{x.Sent, x.Answer} {
				if lines[b.Line-1] != b.Text {
					t.Fatalf("line %d is %q, not %q", b.Line, lines[b.Line-1], b.Text)
				}
			}
		}
	})
}

package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Section is a part of the manual page that the command line does not tell.
// Its text is plain; a line that starts with four spaces is an example.
type Section struct {
	Title string
	Text  string
}

// Page is the manual page, in man(7)'s language.
func Page(app *kong.Node, version string, sections []Section) string {
	p := &page{}
	// Without a date: the page is made by the tool that it is for.
	fmt.Fprintf(&p.out, ".TH %s 1 \"\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(app.Name), app.Name, version)
	p.macro("SH", "NAME")
	summary, detail, _ := strings.Cut(app.Help, "\n\n")
	p.line(app.Name + ` \- ` + roff(strings.TrimSuffix(firstLower(summary), ".")))
	p.macro("SH", "SYNOPSIS")
	for i, v := range verbs(app)[1:] {
		if len(v.children()) == 0 {
			if i > 0 {
				p.macro("br")
			}
			p.line(synopsis(app.Name, v))
		}
	}
	p.macro("SH", "DESCRIPTION")
	p.text(detail)
	p.macro("SH", "COMMANDS")
	for _, v := range verbs(app)[1:] {
		p.verb(app.Name, v)
	}
	for _, s := range sections {
		p.macro("SH", strings.ToUpper(s.Title))
		p.text(s.Text)
	}
	return p.out.String()
}

type page struct{ out strings.Builder }

func (p *page) line(s string) { p.out.WriteString(s + "\n") }

func (p *page) macro(name string, args ...string) {
	p.out.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(&p.out, " \"%s\"", strings.ReplaceAll(roff(a), `"`, `\(dq`))
	}
	p.out.WriteByte('\n')
}

func (p *page) verb(tool string, v verb) {
	if len(v.children()) > 0 {
		return // its own verbs follow
	}
	p.macro("SS", tool+" "+v.name)
	p.text(v.node.Help)
	if v.node.Detail != "" {
		p.text(v.node.Detail)
	}
	for _, f := range v.node.Flags {
		if f.Hidden {
			continue
		}
		p.macro("TP")
		all := names(f)
		for i := range all {
			all[i] = `\fB` + roff(all[i]) + `\fR`
		}
		term := strings.Join(all, ", ")
		if takesValue(f) {
			term += ` \fI` + roff(f.FormatPlaceHolder()) + `\fR`
		}
		p.line(term)
		p.text(f.Help)
	}
}

func synopsis(tool string, v verb) string {
	s := `\fB` + roff(tool+" "+v.name) + `\fR`
	if len(v.node.Flags) > 0 {
		s += ` [\fIflags\fR]`
	}
	for _, a := range v.node.Positional {
		name := a.Name
		if a.Tag.PlaceHolder != "" {
			name = a.Tag.PlaceHolder
		}
		switch {
		case a.Passthrough:
			s += ` \-\- \fIcommand\fR [\fIargument\fR ...]`
		case a.Required:
			s += ` \fI` + roff(name) + `\fR`
		default:
			s += ` [\fI` + roff(name) + `\fR]`
		}
	}
	return s
}

// text writes paragraphs, and examples as they stand.
func (p *page) text(s string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			p.macro("PP")
		}
		example := false
		for _, l := range strings.Split(paragraph, "\n") {
			code, isCode := strings.CutPrefix(l, "    ")
			if isCode != example {
				p.macro(map[bool]string{true: "EX", false: "EE"}[isCode])
				example = isCode
			}
			p.line(roff(code))
		}
		if example {
			p.macro("EE")
		}
	}
}

// roff takes the meaning off what man(7) would take for its own: a backslash, a
// hyphen that is a minus, and a control character at the start of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func firstLower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/config"
	"outlast/cmd/outlast/internal/library"
)

type configVerb struct {
	Show configShowVerb `cmd:"" help:"Show the settings of run, and where each comes from: its flag, the environment, a file's line, or nowhere."`
}

// configShowVerb takes the flags of run, as run itself would.
type configShowVerb struct {
	runVerb
	JSON bool `name:"json" help:"Print one JSON object."`
}

// shownConfig is what config show prints.
type shownConfig struct {
	Command  string         `json:"command,omitempty"`
	Settings []shownSetting `json:"settings"`
	Files    []shownFile    `json:"files"`
	Unknown  []string       `json:"unknown_variables,omitempty"`
}

// shownSetting is one setting. Where is the flag, the variable or file:line.
type shownSetting struct {
	Name  string        `json:"name"`
	Value any           `json:"value"` // nil: none, so that the policy's own counts
	From  config.Source `json:"from"`
	Where string        `json:"where,omitempty"`
}

// shownFile is a file that was looked for, nearest first.
type shownFile struct {
	Path  string       `json:"path"`
	State config.State `json:"state"`
}

// Run shows what run would go by.
func (v *configShowVerb) Run(line *parsed) error {
	shown := shownConfig{Command: config.Command(line.Context), Unknown: line.settings.Config().Unknown()}
	flags := map[string]*kong.Flag{}
	for _, flag := range line.Flags() {
		flags[flag.Name] = flag
	}
	for _, name := range config.Names() {
		if flag := flags[name]; flag != nil {
			source, where := line.settings.Origin(line.Context, flag)
			shown.Settings = append(shown.Settings, shownSetting{name, shownValue(flag), source, where})
		}
	}
	if len(v.Command) > 0 && v.Policy == "" && !v.DescribesPolicy() {
		shown.choose(library.For(shown.Command))
	}
	for _, file := range line.settings.Config().LookedFor() {
		shown.Files = append(shown.Files, shownFile(file))
	}
	if v.JSON {
		return json.NewEncoder(stdout).Encode(shown)
	}
	return shown.print()
}

// choose notes the policy that is the command's own.
func (c *shownConfig) choose(policy string) {
	for i, s := range c.Settings {
		if s.Name == "policy" && policy != "" {
			c.Settings[i] = shownSetting{Name: s.Name, Value: policy, From: "command"}
		}
	}
}

func (c *shownConfig) print() error {
	out := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, s := range c.Settings {
		value := "-"
		if s.Value != nil {
			value = fmt.Sprint(s.Value)
		}
		where := s.Where
		if where == "" {
			where = string(s.From)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\n", s.Name, oneLine(value), where)
	}
	fmt.Fprintln(out, "\nfiles, the nearest first:")
	for _, f := range c.Files {
		fmt.Fprintf(out, "  %s\t%s\n", f.Path, f.State)
	}
	if len(c.Unknown) > 0 {
		fmt.Fprintf(out, "\nno settings, although they look like some: %s\n", strings.Join(c.Unknown, ", "))
	}
	return out.Flush()
}

// oneLine is a value that cannot disturb the table.
func oneLine(value string) string {
	if strings.ContainsAny(value, "\n\t\r\x1b") {
		return fmt.Sprintf("%q", value)
	}
	return value
}

// shownValue is a flag's value without what may be a secret in it.
func shownValue(flag *kong.Flag) any {
	value := flagValue(flag.Target)
	if text, ok := value.(string); ok {
		return config.Shown(flag.Name, text)
	}
	return value
}

// flagValue is a flag's value for people and for JSON; nil if there is none.
func flagValue(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case time.Duration:
		return value.String()
	case string:
		if value == "" {
			return nil
		}
	case []string:
		if len(value) == 0 {
			return nil
		}
	}
	return v.Interface()
}

package config

import (
	"fmt"
	"slices"
	"strings"

	"outlast/internal/environ"
)

// Options say where to look.
type Options struct {
	Env      []string // as os.Environ gives it
	Files    []string // nearest first, as Files gives them
	Policies []string // the names of the built-in policies
}

// Config is what the environment and the files say.
type Config struct {
	env     section
	files   []file
	looked  []LookedFor
	unknown []string
}

// LookedFor is a file that was looked for.
type LookedFor struct {
	Path  string
	State State
}

// Load reads the environment and the files. The error is an *Error that has
// every fault of them.
func Load(o Options) (*Config, error) {
	c, faults := &Config{}, []Fault(nil)
	from := origin{home: home(func(name string) string { return environ.Get(o.Env, name) }), policies: o.Policies}
	c.env, faults = readEnv(o.Env, from)
	c.unknown = unknownVariables(o.Env)
	for _, path := range o.Files {
		text, state, err := readFile(path)
		if err != nil {
			faults = append(faults, Fault{Where: path, Message: err.Error()})
			continue
		}
		c.looked = append(c.looked, LookedFor{path, state})
		if state != Read {
			continue
		}
		f, bad := parseFile(path, text, from)
		c.files, faults = append(c.files, f), append(faults, bad...)
	}
	if len(faults) > 0 {
		return nil, &Error{faults}
	}
	return c, nil
}

// readEnv reads the settings in the environment. An empty variable is not set.
func readEnv(env []string, from origin) (section, []Fault) {
	s, faults := section{}, []Fault(nil)
	for i := range settings {
		known := &settings[i]
		variable := known.variable()
		text := environ.Get(env, variable)
		if text == "" {
			continue
		}
		fault := func(format string, args ...any) {
			faults = append(faults, Fault{Where: variable, Message: fmt.Sprintf(format, args...)})
		}
		if known.places&inEnv == 0 {
			fault("is not taken from the environment, since it says something about one command: give --%s%s", known.name, orFile(known))
			continue
		}
		values, err := known.fromEnv(&from, text)
		if err != nil {
			fault("expected %s, not %s%s", known.want, known.quote(text), because(err))
			continue
		}
		e := entry{values, variable}
		for _, rival := range rivals(known.name) {
			if other, there := s[rival]; there && other.is() && e.is() {
				fault("cannot stand beside %s: they exclude each other", other.where)
			}
		}
		s[known.name] = e
	}
	return s, faults
}

func orFile(s *setting) string {
	if s.places&inCommand == 0 {
		return ""
	}
	return ", or put it under " + commandsKey + ".NAME in a file"
}

// fromEnv are the texts in a variable: where there may be several, one a line.
func (s *setting) fromEnv(o *origin, text string) (values []string, err error) {
	texts := []string{text}
	if s.name == "retry-stderr" {
		texts = strings.Split(strings.TrimRight(text, "\n"), "\n")
	}
	for _, t := range texts {
		value, err := s.read(o, t)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// others are outlast's variables that are no settings.
var others = []string{"OUTLAST_ATTEMPT", "OUTLAST_CACHE_DIR", "OUTLAST_ELAPSED_MS", "OUTLAST_IDEMPOTENCY_KEY", "OUTLAST_JOURNAL_HELD", "OUTLAST_LINK", "OUTLAST_OFF"}

// unknownVariables are those that begin like outlast's and are not known. They are
// no fault, since another release may know them, but config show lists them.
func unknownVariables(env []string) (names []string) {
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(names, name) {
			continue
		}
		known := slices.Contains(others, name) ||
			slices.ContainsFunc(settings, func(s setting) bool { return s.variable() == name })
		if !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// LookedFor are the files that were looked for, nearest first.
func (c *Config) LookedFor() []LookedFor { return c.looked }

// Unknown are the variables whose names look like settings and are none.
func (c *Config) Unknown() []string { return c.unknown }

// Source is a kind of place that a setting's value can come from.
type Source string

// The sources, nearest first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "environment"
	FromFile    Source = "file"
	FromDefault Source = "default"
)

// Found is a setting's value and where it was.
type Found struct {
	Value  []string // one text, but for a list of them
	Source Source
	Where  string // the variable's name, or file:line
}

// Lookup finds a setting for a command, named by its base name, that no flag
// has given. given tells of other flags: a setting is not taken where a nearer
// source gives another that excludes it.
func (c *Config) Lookup(command, name string, given func(flag string) bool) (Found, bool) {
	layers := c.layers(command)
	at := c.place(layers, name, given)
	if at < 0 {
		return Found{}, false
	}
	e, source := layers[at][name], FromFile
	if at == 0 {
		source = FromEnv
	}
	return Found{e.value, source, e.where}, true
}

// layers are the sections that hold for a command, nearest first.
func (c *Config) layers(command string) []section {
	layers := []section{c.env}
	for _, f := range c.files {
		layers = append(layers, f.commands[command], f.general)
	}
	return layers
}

// place is the layer that a setting is taken from, -1 if from none.
func (c *Config) place(layers []section, name string, given func(string) bool) int {
	at := slices.IndexFunc(layers, func(s section) bool { _, there := s[name]; return there })
	if at < 0 {
		return -1
	}
	for _, rival := range rivals(name) {
		// What is nearer counts only if it is itself taken.
		if given(rival) {
			return -1
		}
		if p := c.place(layers[:at], rival, given); p >= 0 && layers[p][rival].is() {
			return -1
		}
	}
	return at
}

package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"outlast/abi/vectors"
)

// Load reads the cases that come with the contract.
func Load() ([]Case, error) {
	return LoadFrom(vectors.Files)
}

// LoadFrom reads the case files of a folder. Results and policies that cases
// name are put in their place.
func LoadFrom(folder fs.FS) ([]Case, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, fmt.Errorf("conformance: listing the case files: %w", err)
	}
	l := &loader{results: named{}, policies: named{}, names: map[string]bool{}}
	var cases []Case
	for _, name := range names {
		file, err := readFile(folder, name)
		if err == nil {
			err = errors.Join(l.results.add(file.Results), l.policies.add(file.Policies))
		}
		if err != nil {
			return nil, fmt.Errorf("conformance: reading %s: %w", name, err)
		}
		for _, c := range file.Cases {
			c.File = strings.TrimSuffix(name, ".json")
			cases = append(cases, c)
		}
	}
	for i := range cases {
		if err := l.finish(&cases[i]); err != nil {
			return nil, fmt.Errorf("conformance: %s.json: case %q: %w", cases[i].File, cases[i].Name, err)
		}
	}
	return cases, nil
}

// caseFile is a file of cases, or of what they name.
type caseFile struct {
	About    string `json:"about"`
	Results  named  `json:"results"`
	Policies named  `json:"policies"`
	Cases    []Case `json:"cases"`
}

func readFile(folder fs.FS, name string) (*caseFile, error) {
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, err
	}
	var file caseFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if file.About == "" {
		return nil, errors.New("it has no about")
	}
	return &file, nil
}

// named are values that cases refer to by name.
type named map[string]json.RawMessage

func (n named) add(more named) error {
	for name, value := range more {
		if _, ok := n[name]; ok {
			return fmt.Errorf("%q is there twice", name)
		}
		n[name] = value
	}
	return nil
}

// resolve puts the named value in a reference's place, if it is one.
func (n named) resolve(reference *json.RawMessage) {
	var name string
	if json.Unmarshal(*reference, &name) == nil {
		if value, ok := n[name]; ok {
			*reference = value
		}
	}
}

// loader makes cases whole.
type loader struct {
	results, policies named
	names             map[string]bool
}

func (l *loader) finish(c *Case) error {
	if c.Name == "" || c.Why == "" || l.names[c.Name] {
		return errors.New("it needs a name of its own, and a why")
	}
	l.names[c.Name] = true
	l.policies.resolve(&c.Policy)
	switch {
	case c.Export != "":
		return c.checkRequest()
	case c.Outage != nil:
		l.results.resolve(&c.Outage.Down)
		l.results.resolve(&c.Outage.Loading)
		l.results.resolve(&c.Outage.Up)
		if len(c.Doors) == 0 {
			c.Doors = []Door{DoorDecide, DoorRun}
		}
		return nil
	case len(c.Steps) == 0:
		return errors.New("it has neither steps nor an outage nor an export")
	}
	if len(c.Doors) == 0 {
		c.Doors = []Door{DoorDecide, DoorRun, DoorFirst, DoorResumed}
	}
	for i := range c.Steps {
		if err := l.finishStep(&c.Steps[i]); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (l *loader) finishStep(s *Step) error {
	events := 0
	for _, result := range []*json.RawMessage{&s.Attempt, &s.Repair, &s.Cancelled} {
		if *result != nil {
			events++
			l.results.resolve(result)
			if b := (*result)[0]; b != '{' && result != &s.Cancelled {
				return fmt.Errorf("there is no result called %s", *result)
			}
		}
	}
	if s.Woken != "" {
		events++
	}
	if s.Down {
		events++
	}
	if s.NotReady {
		events++
	}
	if s.Broken != nil {
		events++
	}
	if events != 1 || (s.Want == nil) == (s.WantError == nil) {
		return errors.New("it needs one event, and either want or want_error")
	}
	return nil
}

func (c *Case) checkRequest() error {
	if (c.Want == nil) == (c.WantError == nil) {
		return errors.New("a request needs either want or want_error")
	}
	_, err := base64.StdEncoding.DecodeString(c.RawBase64)
	return err
}

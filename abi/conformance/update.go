package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"outlast/abi/strictjson"
)

// Update writes what p answers into the case files of a folder, in place of
// what their steps and outages want, and names the cases that it changed. A
// person has to look at each: p is not right because it answered. Requests are
// left as they are.
func Update(ctx context.Context, p Plugin, folder string) (changed []string, err error) {
	cases, err := LoadFrom(os.DirFS(folder))
	if err != nil {
		return nil, err
	}
	byFile := map[string][]*Case{}
	for i := range cases {
		byFile[cases[i].File] = append(byFile[cases[i].File], &cases[i])
	}
	for file, list := range byFile {
		names, err := updateFile(ctx, p, filepath.Join(folder, file+".json"), list)
		if err != nil {
			return changed, fmt.Errorf("conformance: updating %s.json: %w", file, err)
		}
		changed = append(changed, names...)
	}
	return changed, nil
}

// updateFile rewrites a file that holds these cases, in their order.
func updateFile(ctx context.Context, p Plugin, path string, cases []*Case) (changed []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tree, err := strictjson.Parse(string(text), strictjson.Limits{Bytes: math.MaxInt, Depth: 100})
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		if len(Check(ctx, p, c)) == 0 || c.Export != "" {
			continue
		}
		if err := updateCase(ctx, p, c, &member(&tree, "cases").Items[i]); err != nil {
			return nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
		changed = append(changed, c.Name)
	}
	if changed == nil {
		return nil, nil
	}
	return changed, os.WriteFile(path, []byte(layOut(tree, 0, 0)+"\n"), 0o644)
}

func updateCase(ctx context.Context, p Plugin, c *Case, tree *strictjson.Value) error {
	if c.Outage != nil {
		return updateOutage(ctx, p, c, tree)
	}
	h := &recorder{script: newScript(c, 0, c.ClockUS)}
	request := c.request()
	request.Explain = c.Explain
	d := &driven{p: p, h: h, request: request, stopped: h.keep}
	answer, _, err := d.loop(ctx)
	if err != nil {
		return err
	}
	steps := member(tree, "steps")
	for i := range steps.Items {
		if i < len(h.actions) {
			if err := replace(&steps.Items[i], "want", h.actions[i]); err != nil {
				return err
			}
		}
	}
	e, err := opened(answer)
	if err != nil || e.Error == nil || h.next == len(h.actions) {
		return err
	}
	wanted := WantError{Code: e.Error.Code, Field: e.Error.Field}
	return replace(&steps.Items[h.next-1], "want_error", []byte(fmt.Sprintf(`{"code":%q,"field":%q}`, wanted.Code, wanted.Field)))
}

// recorder is a script that keeps the actions instead of comparing them.
type recorder struct {
	*script
	actions [][]byte
}

// keep records the action that answers the last step played.
func (r *recorder) keep(action []byte) {
	if len(r.actions) < r.next {
		r.actions = append(r.actions, append([]byte(nil), action...))
	}
}

// Sleep implements Host.
func (r *recorder) Sleep(ctx context.Context, action []byte) []byte {
	r.keep(action)
	return r.script.Sleep(ctx, action)
}

// Attempt implements Host.
func (r *recorder) Attempt(ctx context.Context, action []byte) []byte {
	if r.next > 0 {
		r.keep(action)
	}
	return r.script.Attempt(ctx, action)
}

func updateOutage(ctx context.Context, p Plugin, c *Case, tree *strictjson.Value) error {
	w := &world{o: c.Outage, now: c.ClockUS}
	answer, continues, problems := c.outageAnswer(ctx, p, DoorRun, w)
	if problems != nil {
		return fmt.Errorf("%s", problems[0])
	}
	var got struct {
		OK struct {
			Outcome json.RawMessage `json:"outcome"`
		} `json:"ok"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.OK.Outcome == nil {
		return fmt.Errorf("no outcome: %s", answer)
	}
	want := member(tree, "want")
	if member(want, "starts_us").Kind != strictjson.Missing {
		if err := replace(want, "starts_us", []byte(text(w.starts))); err != nil {
			return err
		}
	}
	if member(want, "continues").Kind != strictjson.Missing {
		if err := replace(want, "continues", fmt.Append(nil, continues)); err != nil {
			return err
		}
	}
	return replace(want, "outcome", got.OK.Outcome)
}

// member is an object's member, of kind Missing where there is none.
func member(object *strictjson.Value, name string) *strictjson.Value {
	for i := range object.Names {
		if object.Names[i] == name {
			return &object.Items[i]
		}
	}
	return &strictjson.Value{}
}

// replace sets a member of an object, and takes out the other of want and
// want_error.
func replace(object *strictjson.Value, name string, value []byte) error {
	v, err := strictjson.Parse(string(value), strictjson.Limits{Bytes: math.MaxInt, Depth: 100})
	if err != nil {
		return err
	}
	other := map[string]string{"want": "want_error", "want_error": "want"}[name]
	for i := range object.Names {
		if object.Names[i] == name || object.Names[i] == other {
			object.Names[i], object.Items[i] = name, v
			return nil
		}
	}
	object.Names, object.Items = append(object.Names, name), append(object.Items, v)
	return nil
}

// Package transcripts writes down what a plugin answers to the contract's cases,
// call by call, for hosts in other languages: one that replays them needs no
// runner of the cases. README.md says how they are replayed.
package transcripts

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"outlast/abi"
	"outlast/abi/conformance"
)

// Exchange is one call of an export as a plugin answered it.
type Exchange struct {
	Case   string     `json:"case"` // file/name
	Door   string     `json:"door"` // a way into the plugin, as abi/vectors has them, or request
	Export string     `json:"export"`
	Input  string     `json:"input,omitempty"`
	Binary []byte     `json:"input_base64,omitempty"` // instead of Input where that is no UTF-8
	Calls  []HostCall `json:"calls,omitempty"`
	Output string     `json:"output"`
}

// HostCall is one call of a host function while an export ran.
type HostCall struct {
	Function string `json:"function"`
	Input    string `json:"input"`  // as the plugin gave it
	Answer   string `json:"answer"` // "" is offset 0
}

// Record plays all cases with a plugin, which has to pass them.
func Record(ctx context.Context, p conformance.Plugin) ([]Exchange, error) {
	cases, err := conformance.Load()
	if err != nil {
		return nil, err
	}
	r := &recorder{plugin: p}
	for i := range cases {
		if err := r.record(ctx, &cases[i]); err != nil {
			return nil, err
		}
	}
	return r.exchanges, nil
}

// recorder is a plugin that remembers what goes in and out of another.
type recorder struct {
	plugin     conformance.Plugin
	name, door string // of the case that is being played
	exchanges  []Exchange
}

func (r *recorder) record(ctx context.Context, c *conformance.Case) error {
	r.name = c.File + "/" + c.Name
	doors := c.Doors
	if c.Export != "" {
		doors = []conformance.Door{"request"}
	}
	for _, door := range doors {
		r.door = string(door)
		one := *c
		one.Doors = []conformance.Door{door}
		if problems := conformance.Check(ctx, r, &one); len(problems) > 0 {
			return fmt.Errorf("transcripts: case %s: %s", r.name, problems[0])
		}
	}
	return nil
}

// Call implements conformance.Plugin.
func (r *recorder) Call(ctx context.Context, export string, input []byte, h conformance.Host) ([]byte, error) {
	e := Exchange{Case: r.name, Door: r.door, Export: export}
	if utf8.Valid(input) {
		e.Input = string(input)
	} else {
		e.Binary = input
	}
	if h != nil {
		h = &overheard{h, &e.Calls}
	}
	output, err := r.plugin.Call(ctx, export, input, h)
	e.Output = string(output)
	r.exchanges = append(r.exchanges, e)
	return output, err
}

// overheard is a host whose answers are remembered.
type overheard struct {
	host  conformance.Host
	calls *[]HostCall
}

func (o *overheard) heard(function string, input, answer []byte) []byte {
	*o.calls = append(*o.calls, HostCall{function, string(input), string(answer)})
	return answer
}

// Now implements conformance.Host.
func (o *overheard) Now(ctx context.Context) []byte {
	return o.heard(abi.HostNow, nil, o.host.Now(ctx))
}

// Sleep implements conformance.Host.
func (o *overheard) Sleep(ctx context.Context, action []byte) []byte {
	return o.heard(abi.HostSleep, action, o.host.Sleep(ctx, action))
}

// Attempt implements conformance.Host.
func (o *overheard) Attempt(ctx context.Context, action []byte) []byte {
	return o.heard(abi.HostAttempt, action, o.host.Attempt(ctx, action))
}

// Write writes one exchange a line, compressed.
func Write(to io.Writer, exchanges []Exchange) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := json.NewEncoder(packed)
	out.SetEscapeHTML(false)
	for i := range exchanges {
		if err := out.Encode(&exchanges[i]); err != nil {
			return err
		}
	}
	return packed.Close()
}

// Read reads what Write wrote.
func Read(from io.Reader) ([]Exchange, error) {
	packed, err := gzip.NewReader(bufio.NewReader(from))
	if err != nil {
		return nil, fmt.Errorf("transcripts: reading: %w", err)
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return nil, fmt.Errorf("transcripts: reading: %w", err)
	}
	var exchanges []Exchange
	for line := range bytes.Lines(text) {
		var e Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("transcripts: exchange %d: %w", len(exchanges)+1, err)
		}
		exchanges = append(exchanges, e)
	}
	return exchanges, nil
}

// Rideout runs a command until its server is back: rideout outlast.wasm COMMAND…
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	extism "github.com/extism/go-sdk"
)

// object is a JSON object.
type object = map[string]any

func main() {
	plugin, err := load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	origin := time.Now()
	request := object{
		"policy": "omnigraph",
		// A seed of this call's own, so that callers do not march in step.
		"call": object{"remote": true, "write": false, "started_us": 0, "seed": rand.Int64N(1 << 53)},
	}
	for {
		result, stdout, stderr := attempt(os.Args[2:])
		seen := time.Now()
		request["event"] = object{"type": "attempted", "now_us": seen.Sub(origin).Microseconds(), "result": result}
		body, err := json.Marshal(request)
		if err != nil {
			log.Fatal(err)
		}
		code, answer, err := plugin.Call("decide", body)
		var a struct {
			OK struct {
				State  string
				Action struct {
					Type    string
					DelayUS int64 `json:"delay_us"`
					Outcome struct{ Message string }
				}
			}
			Error json.RawMessage
		}
		if err != nil || code != 0 || json.Unmarshal(answer, &a) != nil || a.Error != nil {
			log.Fatalf("decide: code %d, %v: %s", code, err, answer)
		}
		if a.OK.Action.Type != "retry" {
			os.Stdout.Write(stdout)
			os.Stderr.Write(stderr)
			fmt.Fprintln(os.Stderr, a.OK.Action.Outcome.Message)
			exit, ok := result["exit_code"].(int)
			if !ok {
				exit = 1
			}
			os.Exit(exit)
		}
		request["state"] = a.OK.State
		// The delay counts from the failure, so that deciding is part of it.
		time.Sleep(time.Until(seen.Add(time.Duration(a.OK.Action.DelayUS) * time.Microsecond)))
	}
}

// attempt runs the command. Without an exit code a signal ended it, or it could
// not be started, and no such attempt succeeded.
func attempt(command []string) (result object, stdout, stderr []byte) {
	var out, err bytes.Buffer
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, &out, &err
	result = object{}
	if failure := c.Run(); c.ProcessState == nil {
		fmt.Fprintln(&err, failure)
	} else if code := c.ProcessState.ExitCode(); code >= 0 {
		result["exit_code"] = code
	}
	put(result, "stdout", out.String())
	put(result, "stderr", err.String())
	return result, out.Bytes(), err.Bytes()
}

// put gives a text, or what is at the two ends of a long one.
func put(result object, name, text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= 65_536 {
		result[name] = text
		return
	}
	head, tail := 32_768, len(text)-32_768
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	result[name+"_head"], result[name+"_tail"] = text[:head], text[tail:]
}

func load(path string) (*extism.Plugin, error) {
	// Only run calls the host functions, yet each must be there.
	offset := []extism.ValueType{extism.ValueTypeI64}
	var functions []extism.HostFunction
	for _, name := range []string{"outlast_now", "outlast_sleep", "outlast_attempt"} {
		none := func(_ context.Context, _ *extism.CurrentPlugin, stack []uint64) { stack[0] = 0 }
		f := extism.NewHostFunctionWithStack(name, none, offset, offset)
		f.SetNamespace("extism:host/user")
		functions = append(functions, f)
	}
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmFile{Path: path}}}
	return extism.NewPlugin(context.Background(), manifest, extism.PluginConfig{EnableWasi: true}, functions)
}

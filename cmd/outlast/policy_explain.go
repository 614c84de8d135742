package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/sample"
	"outlast/cmd/outlast/internal/words"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/host"
)

type policyExplainVerb struct {
	wrap.PluginFlags
	sample.Flags
	wrap.CallFlags
	Policy  string `arg:"" default:"omnigraph" placeholder:"NAME|FILE" help:"A policy by its name, or a file (default: ${default})."`
	Refuses bool   `name:"refuses-before-acting" help:"The server answers 409, 410, 412, 422, 429 and 503 before it acts."`
	Seed    int64  `default:"0" help:"The seed of the jitter."`
	JSON    bool   `name:"json" help:"Print one JSON object."`

	Command []string `arg:"" optional:"" passthrough:"partial" placeholder:"COMMAND" help:"The command line that ended so, behind the policy and --. What it tells of the call counts where no flag says otherwise."`
}

// explanation is what explain prints.
type explanation struct {
	Kind    string    `json:"kind"`
	Action  string    `json:"action"`
	Repair  bool      `json:"repair"`
	Outcome string    `json:"outcome,omitempty"`
	Effects string    `json:"effects,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Budget  string    `json:"budget,omitempty"`
	DelayUS *int64    `json:"delay_us,omitempty"`
	Rule    string    `json:"rule"`
	Matched []matched `json:"matched"`
	Remedy  string    `json:"remedy,omitempty"`
	Unless  []string  `json:"unless,omitempty"` // flags, each of which would have it retried
}

// matched is one test of the rule that held.
type matched struct {
	In   string `json:"in"`
	Text string `json:"text"`
}

// Run asks the plugin about one result. Without a command line, --local and
// --read the call is taken for the careful case: a write over the network.
func (v *policyExplainVerb) Run(ctx context.Context) error {
	p, err := library.Load(v.Policy)
	if err != nil {
		return err
	}
	result, err := v.Result()
	if err != nil {
		return err
	}
	plug, err := v.OpenPlugin()
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	guess, err := v.guess(p, &result)
	if err != nil {
		return err
	}
	call := v.Call(guess)
	call.RefusesBeforeActing = v.Refuses
	action, err := plug.Explain(ctx, p, call, result)
	if err != nil {
		return exit.Unusable(err)
	}
	e := explain(&action)
	if e.Unless, err = v.unless(ctx, plug, p, call, &result, &action); err != nil {
		return exit.Unusable(err)
	}
	if v.JSON {
		return json.NewEncoder(stdout).Encode(e)
	}
	e.print(call, len(v.Command) == 0 && result.IsProcess() && wrap.UnderstandsAny(v.Policy, p))
	return nil
}

// unless is what, if it were known of a write that may have been applied, would have it
// retried: most often that is known to run, and not to whoever explains a text.
func (v *policyExplainVerb) unless(ctx context.Context, plug *host.Plugin, p *host.Policy, call host.Call, r *abi.Result, a *abi.Action) (flags []string, err error) {
	if call.Read || a.Outcome == nil || a.Outcome.Type != abi.OutcomeIndeterminate {
		return nil, nil
	}
	unsent, read := *r, call
	unsent.Sent, read.Read = abi.SentNo, true
	for _, other := range []struct {
		flag   string
		call   host.Call
		result abi.Result
	}{{"--sent no", call, unsent}, {"--read", read, *r}} {
		would, err := plug.Explain(ctx, p, other.call, other.result)
		if err != nil {
			return nil, err
		}
		if would.Type == abi.Retry {
			flags = append(flags, other.flag)
		}
	}
	return flags, nil
}

// guess is the call as run would make it of the command line, which may tell of
// the result too what no text says. Without a line, the command is taken for one
// that the policy understands, if there is any.
func (v *policyExplainVerb) guess(p *host.Policy, r *abi.Result) (host.Call, error) {
	call := host.Call{Label: "explain", Remote: true, Seed: &v.Seed}
	if r.IsProcess() && !wrap.UnderstandsAny(v.Policy, p) {
		call.OneRequest = new(false)
	}
	argv := v.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return call, nil
	}
	line := wrap.ReadLine(argv, os.Environ())
	if line.Name == "" && library.Source(v.Policy) != "" { // the policy's name may be the command's own, behind --
		return call, exit.Usage("policy explain: expected a command line that outlast reads, such as omnigraph's, behind the policy and --, not %q", argv[0])
	}
	told := line.Call(argv[0])
	call.Remote, call.Read = told.Remote, told.Read
	if call.OneRequest = new(false); wrap.Understands(v.Policy, p, line.Name) {
		call.OneRequest = line.OneRequest()
	}
	if r.Sent == "" {
		r.Sent = line.Sent(r)
	}
	return call, nil
}

func explain(a *abi.Action) explanation {
	e := explanation{Kind: a.Kind, Action: string(a.Type), Repair: a.Repair, Budget: a.Budget, Matched: []matched{}}
	if a.Type == abi.Retry {
		e.DelayUS = &a.DelayUS
	}
	if o := a.Outcome; o != nil {
		e.Outcome, e.Effects, e.Reason, e.Remedy = string(o.Type), string(o.Effects), o.Reason, o.Remedy
	}
	if a.Why != nil {
		e.Rule = a.Why.Rule
		for _, m := range a.Why.Matched {
			e.Matched = append(e.Matched, matched(m))
		}
	}
	return e
}

// whyUnless says what those flags mean.
var whyUnless = map[string]string{
	"--sent no": "it is known that nothing was sent",
	"--read":    "the call is a read",
}

func (e *explanation) print(call host.Call, lineTells bool) {
	if e.Outcome == string(abi.OutcomeOK) {
		fmt.Fprintln(stdout, "success: nothing to decide")
		return
	}
	fmt.Fprintf(stdout, "kind     %s, for a %s %s\n", e.Kind, words.Choose(call.Remote, "remote", "local"), words.Choose(call.Read, "read", "write"))
	for _, m := range e.Matched {
		fmt.Fprintf(stdout, "because  %s: %q\n", m.In, m.Text)
	}
	if len(e.Matched) == 0 {
		fmt.Fprintln(stdout, "because  no other rule matched")
	}
	switch {
	case e.Repair:
		fmt.Fprintf(stdout, "action   repair, then retry; counts on budget %s\n", e.Budget)
	case e.DelayUS != nil:
		fmt.Fprintf(stdout, "action   retry in %v, on budget %s\n", time.Duration(*e.DelayUS)*time.Microsecond, e.Budget)
	default:
		fmt.Fprintf(stdout, "action   stop: %s\n", e.Outcome)
	}
	if e.Effects != "" && !call.Read {
		fmt.Fprintf(stdout, "effects  %s\n", e.Effects)
	}
	if e.Remedy != "" {
		fmt.Fprintf(stdout, "remedy   %s\n", e.Remedy)
	}
	for _, flag := range e.Unless {
		fmt.Fprintf(stdout, "unless   %s (%s): then it is retried\n", whyUnless[flag], flag)
	}
	if len(e.Unless) > 0 && lineTells {
		fmt.Fprintln(stdout, "         run knows it of some command lines: put yours behind the policy and --")
	}
}

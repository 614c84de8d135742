package wrap

import (
	"os"
	"runtime"
	"strings"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/policyflags"
	"outlast/host"
	"outlast/journal"
)

// Flags are what a user says of a run. Each is a flag of outlast run, and can be
// a setting.
type Flags struct {
	CallFlags         `group:"command"`
	Wrapper           []string `group:"command" sep:"none" placeholder:"FILE" help:"A script that only runs the command, and only once."`
	Policy            string   `group:"retry" placeholder:"NAME|FILE" help:"Instead of the command's own: see outlast policy list."`
	PolicyDir         string   `group:"retry" placeholder:"DIR" help:"Folder of followed policies: see policy pull."`
	policyflags.Flags `group:"retry"`
	PluginFlags       `group:"retry"`
	Drive             string `group:"retry" enum:"host,plugin" default:"host" help:"plugin: the plugin's own loop drives, in 100 MiB."`
	LimitFlags        `group:"limit"`
	ProcessFlags      `group:"process"`
	JournalFlags      `group:"journal"`
	IdempotencyFlags  `group:"journal"`
	OutputFlags       `group:"tell"`
}

// CallFlags say what a call is.
type CallFlags struct {
	Read            bool `xor:"what" help:"It changes nothing, so it may be repeated."`
	Write           bool `xor:"what" help:"It may change something."`
	Remote          bool `xor:"where" help:"It talks to a server over the network."`
	Local           bool `xor:"where" help:"It opens its store itself."`
	SurfaceConflict bool `help:"It compares and swaps, so a lost race ends the call."`
	NoConnectRetry  bool `help:"Do not wait for a server that is away."`
}

// Call is the call as the flags say, or as guessed where they do not.
func (f *CallFlags) Call(guess host.Call) host.Call {
	guess.Remote = (guess.Remote || f.Remote) && !f.Local
	guess.Read = (guess.Read || f.Read) && !f.Write
	guess.SurfaceConflict = f.SurfaceConflict
	guess.NoConnectRetry = f.NoConnectRetry
	return guess
}

// PluginFlags choose the plugin.
type PluginFlags struct {
	Plugin string `placeholder:"FILE" help:"Use this plugin instead of the one built in."`
}

// OpenPlugin opens it. The error is an *exit.Error.
func (f *PluginFlags) OpenPlugin(opts ...host.Option) (*host.Plugin, error) {
	if f.Plugin != "" {
		opts = append(opts, host.WithFile(f.Plugin))
	}
	p, err := host.Open(opts...)
	if err != nil {
		return nil, exit.Unusable(err)
	}
	return p, nil
}

// LimitFlags say how long things may take.
type LimitFlags struct {
	MaxWait        *time.Duration `placeholder:"DURATION" help:"Longest wait for a server that is away."`
	Spread         *time.Duration `placeholder:"DURATION" help:"How far apart callers start that see it return."`
	CallBudget     *time.Duration `placeholder:"DURATION" help:"Limit for the whole call, waits included."`
	AttemptTimeout *time.Duration `placeholder:"DURATION" help:"Limit for each attempt (default: none, and omnigraph's own client has none)."`
	KillAfter      *time.Duration `placeholder:"DURATION" help:"Time from TERM to KILL (default: 10s after a timeout, none after a signal)."`
	Ready          string         `placeholder:"TARGET" default:"auto" help:"The server to watch: a URL, tcp://HOST:PORT, off; auto: omnigraph's, else none."`
}

// ProcessFlags say how the command is run, and what exit codes mean.
type ProcessFlags struct {
	Stdin             string `enum:"replay,pass,none" default:"replay" help:"replay: the same in each attempt. pass: outlast's own, in one attempt. none."`
	ExhaustedCode     *int   `placeholder:"N" help:"Exit with N when a budget is spent."`
	IndeterminateCode *int   `placeholder:"N" help:"Exit with N when a write may have been applied."`
	RepairForce       bool   `help:"Run omnigraph repair with --force."`
	Seed              *int64 `placeholder:"N" help:"Seed of the jitter, for a repeatable schedule."`
}

// JournalFlags say what is put on record.
type JournalFlags struct {
	Journal    string `placeholder:"DIR" help:"Folder that records which writes are under way."`
	JournalKey string `placeholder:"KEY" help:"A name for this write; a rerun with the same key does not apply it again."`
}

// OutputFlags say what is told of a run.
type OutputFlags struct {
	Quiet       bool   `short:"q" xor:"loud" help:"Print nothing but the command's output, and errors."`
	Verbose     bool   `short:"v" xor:"loud" help:"Tell of each attempt, and show its stderr."`
	LogFormat   string `enum:"auto,text,json" default:"auto" help:"auto: one line in place on a terminal. text, json: log lines."`
	Events      string `placeholder:"FILE" help:"Append what happens, one JSON object a line."`
	Report      string `placeholder:"FILE" help:"Write what became of the call, one JSON object."`
	MetricsFile string `placeholder:"FILE" help:"Count the call in a textfile of node_exporter's."`
}

// check finds what is wrong with each flag by itself.
func (f *Flags) check() error {
	for _, d := range []struct {
		flag  string
		value *time.Duration
	}{{"call-budget", f.CallBudget}, {"attempt-timeout", f.AttemptTimeout}, {"kill-after", f.KillAfter}, {"idempotency-honoured", f.IdempotencyHonoured}} {
		if d.value != nil && *d.value < time.Microsecond {
			return exit.Usage("--%s: expected a positive duration such as 30s, not %v", d.flag, *d.value)
		}
	}
	if f.Seed != nil && (*f.Seed < 0 || *f.Seed >= 1<<53) {
		return exit.Usage("--seed: expected a number from 0 to 2^53-1, not %d", *f.Seed)
	}
	for _, c := range []struct {
		flag  string
		value *int
	}{{"exhausted-code", f.ExhaustedCode}, {"indeterminate-code", f.IndeterminateCode}} {
		if n := c.value; n != nil && (*n < 1 || *n > 255) {
			return exit.Usage("--%s: expected a number from 1 to 255, not %d", c.flag, *n)
		}
	}
	if err := library.CheckSpread(f.Spread); err != nil {
		return err
	}
	return f.JournalFlags.check()
}

func (f *JournalFlags) check() error {
	if f.JournalKey == "" {
		return nil
	}
	if f.Journal == "" {
		return exit.Usage("--journal-key: expected --journal DIR beside it, where the key's record is")
	}
	if _, err := journal.Given(f.JournalKey); err != nil {
		return exit.Usage("--journal-key: %v", strings.TrimPrefix(err.Error(), "outlast: "))
	}
	return nil
}

// checkWrappers refuses a wrapper that is not there, and one that others could
// change: what it does is vouched for by the user alone.
func checkWrappers(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return exit.Usage("--wrapper: expected the file of a script or program, not %q: there is none", path)
		case !info.Mode().IsRegular():
			return exit.Usage("--wrapper: expected the file of a script or program, not %q", path)
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
			return exit.Usage("--wrapper: %s can be written by others (mode %04o), who could change what it does: chmod go-w %[1]s", path, info.Mode().Perm())
		}
	}
	return nil
}

// asksMore says whether a flag asks for more than a retry: for something that is
// done also where another outlast decides what is run again.
func (f *Flags) asksMore() bool {
	return f.AttemptTimeout != nil || f.KillAfter != nil || f.Events != "" || f.Report != "" || f.MetricsFile != ""
}

// orZero is what a flag was given, or 0.
func orZero(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

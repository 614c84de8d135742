package wrap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/metrics"
	"outlast/cmd/outlast/internal/record"
	"outlast/cmd/outlast/internal/show"
	"outlast/host"
	"outlast/internal/progress"
	"outlast/plugin"
)

// telling is all that tells of a run, or keeps what became of it.
type telling struct {
	*show.Printer
	progress progress.State
	recorder *record.Recorder
	counter  *metrics.Recorder
	name     *nameCheck      // of the server's host; nil: none is known
	ctx      context.Context // the call's
}

// newTelling opens what is kept of the call.
func newTelling(p *Plan) (t *telling, err error) {
	f := &p.Flags
	t = &telling{progress: progress.State{Started: p.Call.Started}, name: newNameCheck(p.Watch.Host)}
	t.Printer = show.New(show.Options{
		Out: stderrOf(p), Format: formatOf(f.LogFormat), Watched: p.Watch.shown(), Quiet: f.Quiet, Verbose: f.Verbose,
		Progress: &t.progress,
	})
	t.counter, err = metrics.Open(metrics.Options{
		Path: f.MetricsFile, Policy: p.Policy, Command: p.Argv[0], Progress: &t.progress, Tell: t.Notice,
	})
	if err == nil { // it tells of the call at once
		t.recorder, err = record.Open(record.Options{
			Events: f.Events, Report: f.Report, Call: p.Call, Policy: p.Policy, PluginDigest: pluginDigest(f.Plugin),
			Command: label(p.Argv[0]), Progress: &t.progress, Tell: t.Notice,
		})
	}
	return t, err
}

// stderrOf is where outlast may tell of a run: nowhere under a link.
func stderrOf(p *Plan) *os.File {
	if p.Linked {
		return nil
	}
	return os.Stderr
}

func formatOf(flag string) show.Format {
	if flag == "auto" {
		return show.Auto
	}
	return show.Format(flag)
}

// pluginDigest is that of the plugin that is built in. A file's is not told: it
// is not what this tool comes with.
func pluginDigest(file string) string {
	if file != "" {
		return ""
	}
	return "sha256:" + strings.TrimSpace(plugin.SHA256)
}

// observe passes on what happens to all who tell or keep it.
func (t *telling) observe(e host.Event) {
	t.progress.Add(e)
	t.Observe(e)
	t.recorder.Observe(e)
	t.counter.Observe(e)
	if _, waits := e.(host.Waiting); waits {
		t.name.check(t.ctx, t.Notice)
	}
}

// inForce tells what the call goes by where there is a folder of policies that are
// followed. That the folder has none of the name is no news to a person.
func (t *telling) inForce(p *Plan) {
	if p.Flags.PolicyDir == "" {
		return
	}
	t.recorder.Observe(host.PolicyInForce{Policy: p.Policy, Why: p.NotFollowed})
	if why := p.NotFollowed; why != nil && !errors.Is(why, fs.ErrNotExist) {
		t.Notice("policy %s is the one that comes with outlast, since the one in the folder cannot be used: %v", p.Policy.Name(), why)
	}
}

// finish completes what is kept of the call.
func (t *telling) finish(end record.End) {
	t.progress.Finish(host.SystemClock().Now())
	t.counter.Finish(end.Outcome)
	t.recorder.Finish(end)
}

// error tells an error in the form of the rest.
func (t *telling) error(err error) error {
	var coded *exit.Error
	if errors.As(err, &coded) && coded.Err != nil {
		t.Error(coded.Err)
		return &exit.Error{Code: coded.Code}
	}
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/metrics"
	"outlast/cmd/outlast/internal/pull"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/wrap"
)

type policyPullVerb struct {
	wrap.PluginFlags
	Source      string        `arg:"" help:"oci://HOST/REPOSITORY:TAG or https://HOST/PATH, either with @sha256:DIGEST."`
	Dir         string        `arg:"" help:"The folder that hosts read it from."`
	Key         string        `placeholder:"KEY|FILE" help:"The public key, of minisign's, that it is signed with. Needed, unless a digest is given."`
	Follow      bool          `help:"Look again and again, until a signal ends it."`
	Every       time.Duration `default:"5m" placeholder:"DURATION" help:"How often (default: ${default})."`
	Rules       string        `enum:"keep,allow" default:"keep" help:"allow: what is repeated may change, and not only when and for how long (keep: it may not)."`
	MetricsFile string        `placeholder:"FILE" help:"Keep what is in force in a textfile of node_exporter's."`
	JSON        bool          `name:"json" help:"Print one JSON object a line."`
}

// takesSettings has the flags that are not given taken from the environment and
// from the configuration files.
func (v *policyPullVerb) takesSettings() {}

// Help is shown below the flags.
func (*policyPullVerb) Help() string {
	return "What is refused changes nothing: the last good policy stays in force. Exits with 1 if it was refused, and with 3 if the source could not be reached."
}

// Run pulls a policy once, or follows it.
func (v *policyPullVerb) Run(ctx context.Context) error {
	p, err := v.puller()
	if err != nil {
		return err
	}
	defer p.Plugin.Close(context.WithoutCancel(ctx))
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	tell := &pullTelling{verb: v, counted: metrics.Followed{Source: v.Source}}
	p.Tell = tell.tell
	if v.Follow {
		p.Follow(ctx, v.Every)
		return nil
	}
	err = p.Look(ctx)
	var refused *pull.Refused
	switch {
	case errors.As(err, &refused):
		return &exit.Error{Code: exit.CodeNotSo}
	case err != nil:
		return &exit.Error{Code: exit.CodeUnusable}
	}
	return nil
}

func (v *policyPullVerb) puller() (*pull.Puller, error) {
	source, err := pull.ParseSource(v.Source)
	if err != nil {
		return nil, exit.Usage("policy pull: %s: %v", v.Source, err)
	}
	p := &pull.Puller{Source: source, Dir: v.Dir, Rules: v.Rules == "allow"}
	switch {
	case v.Key == "" && source.Digest == "":
		return nil, exit.Usage("policy pull: expected --key with the public key that %s is signed with, or @sha256:DIGEST behind it", v.Source)
	case v.Follow && source.Digest != "":
		return nil, exit.Usage("policy pull: --follow and a digest: what a digest names never changes")
	case v.Every < time.Second:
		return nil, exit.Usage("--every: expected a duration of at least 1s, not %v", v.Every)
	case v.Key != "":
		if p.Key, err = pull.ReadKey(v.Key); err != nil {
			return nil, exit.Usage("--key: %v", err)
		}
	}
	if v.MetricsFile != "" {
		if err := metrics.WriteFollowed(v.MetricsFile, &metrics.Followed{Source: v.Source}); err != nil {
			return nil, exit.Usage("%v", err)
		}
	}
	p.Plugin, err = v.OpenPlugin()
	return p, err
}

// pullTelling tells of a pull, and counts.
type pullTelling struct {
	verb    *policyPullVerb
	counted metrics.Followed
}

// pulled is an event as JSON.
type pulled struct {
	Time    string   `json:"time"`
	Event   string   `json:"event"`
	Source  string   `json:"source"`
	Policy  string   `json:"policy,omitempty"`
	New     bool     `json:"new,omitempty"`
	Serial  int64    `json:"serial,omitempty"`
	Was     int64    `json:"was,omitempty"`
	Digest  string   `json:"policy_digest,omitempty"`
	Expires string   `json:"expires,omitempty"`
	Faults  []string `json:"faults,omitempty"`
}

func (t *pullTelling) tell(e pull.Event) {
	line := pulled{Time: e.Time.UTC().Format(time.RFC3339), Event: "policy_in_force", Source: t.verb.Source}
	text := ""
	var refused *pull.Refused
	switch {
	case errors.As(e.Err, &refused):
		line.Event = "policy_refused"
		for _, f := range refused.Faults {
			line.Faults = append(line.Faults, safetext.Line(f))
			text += fmt.Sprintf("refused: %s\n", safetext.Line(f))
		}
		t.counted.Refused++
	case e.Err != nil:
		line.Event, line.Faults = "source_unreached", []string{safetext.Error(e.Err)}
		text = safetext.Error(e.Err) + "\n"
		if !e.Retrying {
			t.counted.Unreached++
		}
	default:
		text = t.inForce(&e, &line)
	}
	t.print(&line, text)
	if t.verb.MetricsFile != "" {
		if err := metrics.WriteFollowed(t.verb.MetricsFile, &t.counted); err != nil {
			say("%v", err)
		}
	}
}

// inForce tells of a policy that is in force. While it is followed, one that is not
// new is no news.
func (t *pullTelling) inForce(e *pull.Event, line *pulled) string {
	r := e.Release
	line.Policy, line.Serial, line.Digest, line.New = r.Name, r.Serial, r.Policy.Digest, e.New
	text := fmt.Sprintf("policy %s, serial %d, is in force", r.Name, r.Serial)
	switch {
	case !e.New:
		text += " already"
	case e.Before != nil:
		line.Was = e.Before.Serial
		text += fmt.Sprintf(", in place of %d", line.Was)
	}
	if !r.Expires.IsZero() {
		line.Expires = r.Expires.Format(time.RFC3339)
		text += ", and expires at " + line.Expires
	}
	c := &t.counted
	first := c.Looked.IsZero()
	c.Policy, c.Serial, c.Since, c.Expires, c.Looked = r.Name, r.Serial, r.Pulled, r.Expires, e.Time
	if !e.New && !first {
		return ""
	}
	return text + "\n"
}

func (t *pullTelling) print(line *pulled, text string) {
	switch {
	case t.verb.JSON:
		_ = json.NewEncoder(stdout).Encode(line) // stdout remembers what was lost
	case len(line.Faults) > 0:
		fmt.Fprint(os.Stderr, text)
	default:
		fmt.Fprint(stdout, text)
	}
}

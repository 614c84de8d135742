package pull

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"time"

	"aead.dev/minisign"
	"github.com/gofrs/flock"

	"outlast/followed"
	"outlast/host"
	"outlast/httpattempt"
)

// Puller keeps a policy of a source in a folder.
type Puller struct {
	Source *Source
	Key    *minisign.PublicKey // that the source is signed with; nil only where the source is a digest
	Rules  bool                // what is repeated may change
	Dir    string
	Plugin *host.Plugin
	Tell   func(Event)

	Transport http.RoundTripper // nil: http.DefaultTransport
	Clock     host.Clock        // nil: host.SystemClock
	Now       func() time.Time  // the time of the day; nil: time.Now

	client *http.Client
	told   string // the fault that was told last
}

// Event is what became of a look at a source.
type Event struct {
	Time     time.Time
	Release  *followed.Release // in force, as the source has it; nil: Err
	New      bool              // since now
	Before   *followed.Release // what it takes the place of; nil: nothing
	Err      error             // a *Refused, or why the source cannot be reached; what was in force goes on
	Retrying bool              // the source is away, and is asked again
}

// Look looks at the source once, and through a restart of its server if need be. It
// says whether what the source has is in force.
func (p *Puller) Look(ctx context.Context) error {
	got, err := p.reach(ctx)
	if err == nil {
		var event Event
		if event, err = p.put(got); err == nil {
			p.told = ""
			p.tell(event)
			return nil
		}
	}
	if ctx.Err() == nil && err.Error() != p.told {
		p.told = err.Error()
		p.tell(Event{Err: err})
	}
	return err
}

// reach fetches what is published, by the schedule of the built-in policy network.
func (p *Puller) reach(ctx context.Context) (got *Published, err error) {
	if p.client == nil {
		p.client = client(p.Transport)
	}
	var refusal *Refused
	network, err := host.BuiltIn("network")
	if err != nil {
		return nil, err
	}
	_, err = p.Plugin.Run(ctx, &host.Task{
		Policy: network, Clock: p.Clock,
		Call: host.Call{Label: "policy pull", Remote: true, Read: true},
		Attempt: httpattempt.Func(func(ctx context.Context) (err error) {
			refusal = nil
			got, err = p.Source.fetch(ctx, p.client)
			if errors.As(err, &refusal) {
				return nil // the source was reached, and that is all that the policy judges
			}
			return err
		}),
		Observe: func(e host.Event) {
			if w, waits := e.(host.Waiting); waits && w.Attempt == 2 && !w.Again {
				p.tell(Event{Err: fmt.Errorf("%s: %s; it is asked again", p.Source, w.Kind), Retrying: true})
			}
		},
	})
	if refusal != nil {
		return nil, refusal
	}
	return got, err
}

// lockWait is how long another pull into the same folder is waited for (a choice: it
// holds the lock for some milliseconds).
const lockWait = 10 * time.Second

// put puts what was fetched into the folder, if it is new and nothing is wrong with it.
func (p *Puller) put(got *Published) (Event, error) {
	if err := followed.Make(p.Dir); err != nil {
		return Event{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(p.Dir, ".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return Event{}, fmt.Errorf("the lock of %s: %w", p.Dir, err)
	}
	defer lock.Unlock()
	var before *followed.Release
	r, err := p.judge(got, p.now(), func(name string) *followed.Release {
		before, _ = followed.Read(p.Dir, name) // one that is damaged is as if there were none
		return before
	})
	switch {
	case r == nil:
		return Event{}, err
	case before != nil && before.Digest == r.Digest:
		return Event{Release: before}, nil
	}
	return Event{Release: r, New: true, Before: before}, r.Write(p.Dir, r.Name)
}

// Follow looks again and again, about once in every period, until the context ends.
func (p *Puller) Follow(ctx context.Context, every time.Duration) {
	clock := p.Clock
	if clock == nil {
		clock = host.SystemClock()
	}
	for ctx.Err() == nil {
		_ = p.Look(ctx) // it has been told, and the next may do better
		// A tenth more or less (a choice), so that a fleet does not come all at once.
		_ = clock.Sleep(ctx, time.Duration(float64(every)*(0.9+0.2*rand.Float64())))
	}
}

func (p *Puller) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

func (p *Puller) tell(e Event) {
	if e.Time = p.now(); p.Tell != nil {
		p.Tell(e)
	}
}

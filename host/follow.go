package host

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"outlast/followed"
)

// Release says where a policy comes from that is followed.
type Release struct {
	Serial  int64
	Source  string    // such as oci://registry.example/fleet/orders:stable
	Since   time.Time // when it was put in force on this machine
	Made    time.Time
	Expires time.Time // zero: never. What is in force stays so
	Digest  string    // of its envelope, "sha256:…"
}

// Release is nil for a policy that is not followed.
func (p *Policy) Release() *Release { return p.release }

// ReadFollowed is the policy of a name in a folder that outlast policy pull keeps.
// The error is a *PolicyError for a document that is faulty, and is fs.ErrNotExist
// where there is none.
func ReadFollowed(dir, name string) (*Policy, error) {
	r, err := followed.Read(dir, name)
	if err != nil {
		return nil, err
	}
	p := checked(r.Policy)
	p.release = &Release{r.Serial, r.Source, r.Pulled, r.Time, r.Expires, r.Digest}
	return p, nil
}

// Followed is the policy of a name in a folder that outlast policy pull keeps, as it
// stands there from time to time. Goroutines may share it.
type Followed struct {
	dir, name string

	mu   sync.Mutex
	seen followed.Stamp
	held *Policy
	why  error // why what was seen last is not in force; nil: it is
}

// Follow looks for a policy in a folder. Where it cannot be used, or is not there
// yet, the built-in policy of that name is in force; the error says why there is
// none of either.
func Follow(dir, name string) (*Followed, error) {
	f := &Followed{dir: dir, name: name}
	f.look()
	if f.held != nil {
		return f, nil
	}
	var err error
	if f.held, err = BuiltIn(name); err != nil {
		return nil, fmt.Errorf("outlast: there is no built-in policy called %s, and none that can be used in the folder: %w", name, f.why)
	}
	return f, nil
}

// Policy is the one in force: the file is read again if it has changed. One that is
// faulty, older than the one in force, or gone, changes nothing; why says so.
func (f *Followed) Policy() (p *Policy, why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !followed.Look(f.dir, f.name).Same(f.seen) || f.why != nil {
		f.look()
	}
	return f.held, f.why
}

// look reads the file. The stamp is taken before: a file that comes in between is
// read again.
func (f *Followed) look() {
	f.seen = followed.Look(f.dir, f.name)
	p, err := ReadFollowed(f.dir, f.name)
	if err == nil && f.held != nil && f.held.release != nil && p.release.Serial < f.held.release.Serial {
		err = fmt.Errorf("%s: serial %d is lower than %d, which is in force", followed.Path(f.dir, f.name), p.release.Serial, f.held.release.Serial)
	}
	if f.why = err; err == nil {
		f.held = p
	}
}

// choosePolicy fixes what the call goes by, at its first failure.
func (d *driver) choosePolicy() error {
	if d.task.Follow == nil && d.task.MaxWait == 0 && d.task.Spread == 0 {
		return nil
	}
	task := *d.task
	d.task = &task
	if task.Follow != nil {
		p, why := task.Follow.Policy()
		task.Policy = p
		task.observe(PolicyInForce{Policy: p, Why: why})
	}
	p, err := task.policy().with(task.MaxWait, task.Spread)
	if err != nil {
		return errors.Join(err, d.own)
	}
	task.Policy = p
	return nil
}

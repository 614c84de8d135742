package goodput

import (
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if !Child() {
		os.Exit(m.Run())
	}
}

// A server that comes back serves as much as it can at once, whoever calls, and
// outlast's calls are all served. The benchmark's goal of 95 % is for a machine that
// does nothing else.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 17 s")
	}
	var all sync.WaitGroup
	for loop := range Loops {
		trial := &Trial{Loop: loop, Address: freeAddress(t), Capacity: 200, Offered: 0.8, Before: time.Second, Away: 6 * time.Second, After: 10 * time.Second}
		all.Go(func() {
			f, err := trial.Run()
			if err != nil {
				t.Errorf("%s: %v", loop, err)
				return
			}
			t.Logf("%s: %+v", loop, f)
			ours := loop != "backoff" && loop != "witan-core"
			if share := f.Goodput(200, 10); share > 1.01 || ours && share < 0.85 {
				t.Errorf("%s: a goodput of %.3f", loop, share)
			}
			if f.Queue > 200 {
				t.Errorf("%s: %d were in the queue, which has room for a second's", loop, f.Queue)
			}
			if f.Waiting < 900 || f.Waiting > 1000 || f.GivenUp > 0 {
				t.Errorf("%s: %d calls waited, %d were given up", loop, f.Waiting, f.GivenUp)
			}
		})
	}
	all.Wait()
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// What ended before the return counts as no goodput, what goes on keeps the backlog
// from being drained, and what was given up is no good.
func TestFigures(t *testing.T) {
	up := int64(time.Hour)
	at := func(d time.Duration) int64 { return up + int64(d) }
	saw := &seen{Up: up, Came: []int64{at(0), at(50 * time.Millisecond), at(100 * time.Millisecond), at(1500 * time.Millisecond)}, Queue: []int{0, 1, 2, 7}, Refused: 1}
	calls := []ended{
		{at(-3 * time.Second), at(-2 * time.Second), true},
		{at(-3 * time.Second), at(200 * time.Millisecond), true},
		{at(-2 * time.Second), at(1700 * time.Millisecond), false},
		{at(time.Second), at(1100 * time.Millisecond), true},
		{at(time.Second), 0, false},
	}
	trial := &Trial{After: 2 * time.Second}
	f := trial.figures(calls, saw)
	if f.Waiting != 2 || f.Answered != 2 || f.GivenUp != 1 || f.Densest != 2 || f.Queue != 7 || f.Came != 4 || f.Refused != 1 || f.Drained != 1700*time.Millisecond {
		t.Errorf("%+v", f)
	}
	if f.Seconds[0] != (Second{3, 1, 2}) || f.Seconds[1] != (Second{1, 1, 7}) || f.Goodput(2, 2) != 0.5 {
		t.Errorf("%+v", f.Seconds)
	}
	calls[2].Ended = 0
	if f = trial.figures(calls, saw); f.Drained != 0 || f.Waiting != 2 || f.GivenUp != 0 {
		t.Errorf("%+v", f)
	}
}

package meeting

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	members = flag.Int("members", 12, "how many processes meet in the storm")
	storm   = flag.Duration("storm", 2*time.Second, "for how long processes are killed and stopped")
)

const (
	dirEnv = "OUTLAST_TEST_MEETING" // where a process of the storm meets
	beat   = 20 * time.Millisecond  // of a member of the storm
	limit  = 8 * beat               // after which a looker that is silent is gone
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirEnv); dir != "" {
		member(dir)
	}
	os.Exit(m.Run())
}

// member is a process that looks, or is answered by who does, and says at each beat
// which of them.
func member(dir string) {
	place, err := At(dir, "storm")
	if err != nil {
		panic(err)
	}
	for gone := int64(0); ; {
		seat, conn, term, err := place.Enter(gone)
		switch {
		case err != nil:
			fmt.Println("error", err)
			time.Sleep(beat)
		case seat != nil:
			look(seat)
		default:
			gone = 0
			if follow(conn) {
				gone = term
			}
		}
	}
}

func look(seat *Seat) {
	go func() {
		for {
			conn, err := seat.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()
	for !seat.Taken() {
		fmt.Println("looks")
		time.Sleep(beat)
	}
	seat.Leave(true)
	fmt.Println("taken")
}

// follow says in the end whether the looker is gone. Who was itself stopped
// cannot tell.
func follow(conn net.Conn) (gone bool) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for {
		asked := time.Now()
		conn.SetDeadline(asked.Add(limit))
		if _, err := fmt.Fprintln(conn, "ask"); err != nil || !lines.Scan() {
			return time.Since(asked) < 2*limit
		}
		fmt.Println("follows")
		time.Sleep(beat)
	}
}

// watched is a member as the storm sees it.
type watched struct {
	cmd *exec.Cmd

	mu      sync.Mutex
	at      time.Time // of its last word, or since when it can speak
	looks   bool
	stopped bool
	worst   time.Duration // between two words, while it was not stopped
}

func begin(t *testing.T, dir string) *watched {
	w := &watched{cmd: exec.Command(os.Args[0]), at: time.Now()}
	w.cmd.Env = append(os.Environ(), dirEnv+"="+dir)
	out, err := w.cmd.StdoutPipe()
	if err != nil || w.cmd.Start() != nil {
		t.Fatal("no member")
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.heard(t, lines.Text())
		}
	}()
	return w
}

func (w *watched) heard(t *testing.T, word string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(word, "error") {
		t.Log(word)
		return
	}
	w.spoke()
	w.looks = word == "looks"
}

func (w *watched) spoke() {
	if !w.stopped {
		w.worst = max(w.worst, time.Since(w.at))
	}
	w.at = time.Now()
}

func (w *watched) stop(d time.Duration) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(d)
	w.mu.Lock()
	w.spoke()
	w.stopped = false
	w.mu.Unlock()
	w.cmd.Process.Signal(syscall.SIGCONT)
}

func (w *watched) end() time.Duration {
	w.cmd.Process.Kill()
	w.cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.worst
}

// Lookers are killed and stopped at random moments, and newcomers come all the
// while. Each member that lives soon looks or is answered again; two that look
// are soon one; and in the end no more than one name is left.
//
//	go test ./ready/meeting -run Storm -v -members 60 -storm 60s
func TestStorm(t *testing.T) {
	dir := t.TempDir()
	crowd := make([]*watched, *members)
	for i := range crowd {
		crowd[i] = begin(t, dir)
	}
	var worst, two, most time.Duration
	var kills, stops int
	since := time.Time{}
	for end := time.Now().Add(*storm); time.Now().Before(end); time.Sleep(beat / 4) {
		looking := []int{}
		for i, w := range crowd {
			w.mu.Lock()
			if w.looks && !w.stopped && time.Since(w.at) < 3*beat {
				looking = append(looking, i)
			}
			w.mu.Unlock()
		}
		if len(looking) < 2 {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		} else {
			two, most = two+beat/4, max(most, time.Since(since))
		}
		at := rand.IntN(len(crowd))
		if len(looking) > 0 && rand.IntN(3) > 0 {
			at = looking[0]
		}
		switch rand.IntN(20) {
		case 0:
			kills++
			worst = max(worst, crowd[at].end())
			crowd[at] = begin(t, dir)
		case 1:
			stops++
			go crowd[at].stop(time.Duration(rand.Int64N(int64(4 * limit))))
		}
	}
	time.Sleep(5 * limit)
	looking := 0
	for _, w := range crowd {
		w.mu.Lock()
		if w.looks {
			looking++
		}
		w.mu.Unlock()
	}
	for _, w := range crowd {
		worst = max(worst, w.end())
	}
	place, _ := At(dir, "storm")
	names := 0
	_ = place.each(place.name, func(string, string) { names++ })
	t.Logf("%d killed, %d stopped; longest without a word %v, two lookers for %v in all and %v at a time", kills, stops, worst, two, most)
	if looking != 1 || names != 1 || kills == 0 || stops == 0 {
		t.Errorf("%d look in the end, at %d names", looking, names)
	}
	if worst > 20*limit || most > 20*limit {
		t.Error("too long")
	}
}

package standin

import (
	"flag"
	"io"
	"os"
	"time"
)

// ServerMain is the server's command: omnigraph-server --bind ADDRESS.
func ServerMain(args []string, stdout, stderr io.Writer) int {
	s := &Server{}
	flags := flag.NewFlagSet("omnigraph-server", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bind := flags.String("bind", "127.0.0.1:0", "the `ADDRESS` to listen at")
	release := flags.String("release", os.Getenv("STANDIN_RELEASE"), "the `RELEASE` to stand in for: 0.10, 0.11, … (default: the latest)")
	flags.StringVar(&s.Ledger, "ledger", "", "a `FILE` that gets a line for each write that is applied")
	flags.DurationVar(&s.Loading, "loading", 0, "how long the graphs open")
	flags.DurationVar(&s.Work, "work", 0, "how long a data request takes")
	flags.DurationVar(&s.Grace, "shutdown-grace", 25*time.Second, "how long a stop waits for requests under way")
	flags.Func("dies", "the first write kills the server once it is `read`, applied or answering", func(text string) error {
		s.Dies = Moment(text)
		return nil
	})
	if flags.Parse(args) != nil {
		return usageExit
	}
	var err error
	if s.Release, err = ParseRelease(*release); err != nil {
		io.WriteString(stderr, "omnigraph-server: "+err.Error()+"\n")
		return usageExit
	}
	return s.Run(*bind, stdout, stderr)
}

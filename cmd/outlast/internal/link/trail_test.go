package link

import (
	"strings"
	"testing"
)

// next is the variable's value after one more link has run the program.
func next(t *testing.T, value, program string) string {
	t.Helper()
	environ := []string{"A=1", TrailVar + "=" + value, "B=2", TrailVar + "S=x"}
	env := ReadTrail(value).Env(environ, program)
	if got := strings.Join(env[:3], " "); len(env) != 4 || got != "A=1 B=2 OUTLAST_LINKS=x" {
		t.Errorf("the environment is %q", env)
	}
	if environ[1] != TrailVar+"="+value {
		t.Error("the environment was changed")
	}
	_, value, _ = strings.Cut(env[3], "=")
	return value
}

func TestTrailEndsCirclesAndNothingElse(t *testing.T) {
	const a, b = "/opt/a dir/omnigraph", "/usr/bin/omnigraph"
	value := ""
	for round := range 3 * maxRounds {
		if got := ReadTrail(value).circles(a); got != (round >= maxRounds) {
			t.Fatalf("round %d: %v", round, got)
		}
		if ReadTrail(value).circles(b) {
			t.Fatalf("round %d: another program is in it too", round)
		}
		value = next(t, value, a)
	}
	value = next(t, value, b)
	for _, program := range []string{a, b} {
		if ReadTrail(value).circles(program) {
			t.Errorf("%s, after another one was run in between", program)
		}
	}
}

func TestTrailReadsAnything(t *testing.T) {
	for _, value := range []string{"", " ", "x", "-1 /a", "9 /a", "1e9 /a", "99999999999999999999 /a", "/a", "8"} {
		if ReadTrail(value).circles("/a") {
			t.Errorf("%q", value)
		}
	}
}

package prometheus

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is one of Debian's package prometheus: the installed one, or the package's,
// unpacked into the user's cache, which takes no rights.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "outlast-tests", "prometheus")
	path := filepath.Join(dir, "usr", "bin", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skip(err)
	}
	get := exec.Command("sh", "-c", "(apt-get download prometheus || { apt-get update && apt-get download prometheus; }) && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb")
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("%s is not installed, and cannot be had: %v\n%s", name, err, out)
	}
	return path
}

// The alerts come when they should, by Prometheus' own test of rules.
func TestAlerts(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		check := exec.Command(program(t, "promtool"), args...)
		check.Dir = "../../telemetry"
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

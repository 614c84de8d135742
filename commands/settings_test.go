package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"outlast/commands/internal/linetest"
)

// Every place in which a command may find settings makes its line linetest.Unsure, by
// whichever variable it is found; none of them, where there is nothing.
func TestSettingsWhereverTheyAre(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("homes are not known there")
	}
	home, account, xdg, curlHome := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	linetest.AccountAt(t, account, true)
	for _, c := range []struct {
		argv  []string
		want  linetest.Sure
		files []string
	}{
		{[]string{"curl", "-d", "a=1", "http://h/"}, linetest.Direct, []string{
			home + "/.curlrc", home + "/_curlrc", home + "/.config/curlrc", account + "/.curlrc", account + "/.config/curlrc",
			xdg + "/curlrc", xdg + "/.curlrc", curlHome + "/.curlrc", curlHome + "/.config/curlrc",
		}},
		{[]string{"curl", "http://h/"}, linetest.DirectRead, []string{home + "/.curlrc", account + "/.curlrc", xdg + "/curlrc", curlHome + "/.curlrc"}},
		{[]string{"psql", "-c", "SELECT"}, linetest.Direct, []string{
			home + "/.psqlrc", home + "/.psqlrc-15", home + "/.psqlrc-15.3", account + "/.psqlrc", account + "/.psqlrc-14",
		}},
	} {
		env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + xdg, "CURL_HOME=" + curlHome}
		for _, file := range append([]string{""}, c.files...) {
			want := c.want
			if file != "" {
				linetest.Write(t, file, "# nothing\n", 0o600)
				want = linetest.Unsure
			}
			if got := linetest.Of(Parse(c.argv, env)); got != want {
				t.Errorf("%q with %s: %+v", c.argv, file, got)
			}
			if file != "" {
				os.Remove(file)
			}
		}
	}
}

// Without HOME there are the account's settings; without those, none.
func TestNoHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("homes are not known there")
	}
	account := t.TempDir()
	for _, env := range [][]string{nil, {"HOME="}, {"PATH=/bin"}, {"HOME=/nonexistent"}, {"HOME=/dev/null"}} {
		for _, c := range []struct {
			argv []string
			want linetest.Sure
			rc   string
		}{
			{[]string{"curl", "-fsS", "http://h/"}, linetest.DirectRead, ".curlrc"},
			{[]string{"psql", "-c", "SELECT"}, linetest.Direct, ".psqlrc"},
		} {
			check := func(why string, want linetest.Sure) {
				t.Helper()
				if got := linetest.Of(Parse(c.argv, env)); got != want {
					t.Errorf("%q with %q, %s: %+v", c.argv, env, why, got)
				}
			}
			linetest.AccountAt(t, account, true)
			check("an account", c.want)
			linetest.Write(t, filepath.Join(account, c.rc), "", 0o600)
			check("an account with settings", linetest.Unsure)
			os.Remove(filepath.Join(account, c.rc))
			linetest.AccountAt(t, "", true)
			check("no account", c.want)
			linetest.AccountAt(t, "", false)
			check("an account that is not seen", linetest.Unsure)
		}
	}
}

// What is closed to this process is closed to the command.
func TestClosedSettings(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is closed to root, nor to Windows' modes")
	}
	linetest.AccountAt(t, "", true)
	home := t.TempDir()
	linetest.Write(t, home+"/.curlrc", "location\n", 0o000)
	if l := Parse([]string{"curl", "http://h/"}, []string{"HOME=" + home}); !l.Direct {
		t.Error("a .curlrc that cannot be read")
	}
	if err := os.Chmod(home, 0o000); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(home, 0o700)
	if l := Parse([]string{"curl", "http://h/"}, []string{"HOME=" + home}); !l.Direct {
		t.Error("a home that cannot be read")
	}
}

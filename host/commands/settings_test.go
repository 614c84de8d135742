package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// accountAt gives this process's account another home for a test.
func accountAt(t *testing.T, dir string, known bool) {
	t.Helper()
	was := accountHome
	accountHome = func() (string, bool) { return dir, known }
	t.Cleanup(func() { accountHome = was })
}

func noAccountHome(t *testing.T) { t.Helper(); accountAt(t, "", true) }

// write makes a file, and the directories that it is in.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// Every place in which a command may find settings makes its line unsure, by
// whichever variable it is found; none of them, where there is nothing.
func TestSettingsWhereverTheyAre(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("homes are not known there")
	}
	home, account, xdg, curlHome := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	accountAt(t, account, true)
	for _, c := range []struct {
		argv  []string
		want  sure
		files []string
	}{
		{[]string{"curl", "-d", "a=1", "http://h/"}, direct, []string{
			home + "/.curlrc", home + "/_curlrc", home + "/.config/curlrc", account + "/.curlrc", account + "/.config/curlrc",
			xdg + "/curlrc", xdg + "/.curlrc", curlHome + "/.curlrc", curlHome + "/.config/curlrc",
		}},
		{[]string{"curl", "http://h/"}, directRead, []string{home + "/.curlrc", account + "/.curlrc", xdg + "/curlrc", curlHome + "/.curlrc"}},
		{[]string{"psql", "-c", "SELECT"}, direct, []string{
			home + "/.psqlrc", home + "/.psqlrc-15", home + "/.psqlrc-15.3", account + "/.psqlrc", account + "/.psqlrc-14",
		}},
	} {
		env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + xdg, "CURL_HOME=" + curlHome}
		for _, file := range append([]string{""}, c.files...) {
			want := c.want
			if file != "" {
				write(t, file, "# nothing\n", 0o600)
				want = unsure
			}
			if l := Parse(c.argv, env); (sure{l.Read, l.Direct}) != want {
				t.Errorf("%q with %s: read %t, direct %t", c.argv, file, l.Read, l.Direct)
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
			want sure
			rc   string
		}{
			{[]string{"curl", "-fsS", "http://h/"}, directRead, ".curlrc"},
			{[]string{"psql", "-c", "SELECT"}, direct, ".psqlrc"},
		} {
			check := func(why string, want sure) {
				t.Helper()
				if l := Parse(c.argv, env); (sure{l.Read, l.Direct}) != want {
					t.Errorf("%q with %q, %s: read %t, direct %t", c.argv, env, why, l.Read, l.Direct)
				}
			}
			accountAt(t, account, true)
			check("an account", c.want)
			write(t, filepath.Join(account, c.rc), "", 0o600)
			check("an account with settings", unsure)
			os.Remove(filepath.Join(account, c.rc))
			accountAt(t, "", true)
			check("no account", c.want)
			accountAt(t, "", false)
			check("an account that is not seen", unsure)
		}
	}
}

// What is closed to this process is closed to the command.
func TestClosedSettings(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is closed to root, nor to Windows' modes")
	}
	noAccountHome(t)
	home := t.TempDir()
	write(t, home+"/.curlrc", "location\n", 0o000)
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

func TestAccountsElsewhere(t *testing.T) {
	for conf, want := range map[string]bool{
		"":                        false,
		"passwd: files\n":         false,
		"passwd:\tfiles systemd":  false,
		"passwd: compat # ldap\n": false,
		"passwd: files [NOTFOUND=return] compat\ngroup: ldap\n": false,
		"group: files\npasswd: files sss\n":                     true,
		"  passwd: ldap files":                                  true,
	} {
		if got := namesElsewhere(conf); got != want {
			t.Errorf("%q: %t", conf, got)
		}
	}
}

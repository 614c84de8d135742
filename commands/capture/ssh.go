//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func ssh(s *stage) {
	port := closed()
	on := func(port string, more ...string) []string {
		return append([]string{"ssh", "-F", "none", "-o", "BatchMode=yes", "-p", port, "127.0.0.1"}, more...)
	}
	for _, c := range []scene{
		{name: "ssh-refused", argv: on(port, "touch x"), happened: "nobody listens", kind: "unavailable"},
		{name: "ssh-unresolved", argv: []string{"ssh", "-F", "none", unresolvable, "touch x"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "ssh-silent", argv: []string{"ssh", "-F", "none", "-o", "ConnectTimeout=2", "-p", s.silent(), "127.0.0.1", "touch x"}, happened: "the host does not answer", kind: "unavailable"},
		{name: "ssh-hangs-up", argv: on(s.hangsUp(), "touch x"), happened: "the connection is closed before either side has spoken", kind: "unavailable"},
		{name: "ssh-tunnel-refused", argv: append([]string{"ssh", "-N"}, on(port)[1:]...), happened: "nobody listens", kind: "unavailable"},
		{name: "ssh-jump-refused", argv: append([]string{"ssh", "-J", "127.0.0.1:" + port}, on("22", "touch x")[1:]...), happened: "nobody listens at the host in between", kind: "unavailable"},
	} {
		s.play(c)
	}
	if !have("sshd", "ssh-keygen") {
		return
	}
	real, login := s.sshd()
	remote := func(command string) []string {
		return append(append([]string{"ssh"}, login...), "-p", real, "127.0.0.1", command)
	}
	inner := "ssh -F none -o BatchMode=yes -p " + port + " 127.0.0.1 true"
	for _, c := range []scene{
		{name: "ssh-remote-fails", argv: remote("touch x; exit 3"), applied: true, happened: "the remote command ran and failed", kind: "failed"},
		{name: "ssh-inner-refused", argv: remote("touch x; " + inner), applied: true, happened: "the remote command did something, and its own ssh could not connect", kind: "unavailable"},
		{name: "ssh-imitates", argv: remote("touch x; echo 'ssh: connect to host h port 22: Connection refused' >&2; exit 255"), applied: true, happened: "the remote command said the words of a failed connection", kind: "unavailable"},
		{name: "ssh-imitates-later", argv: remote("echo started >&2; " + inner), applied: true, happened: "likewise, after something else", kind: "failed"},
		{name: "ssh-remote-255", argv: remote("touch x; exit 255"), applied: true, happened: "the remote command ended with 255", kind: "failed"},
		{name: "ssh-dies-midway", argv: remote("touch x; kill -9 $PPID; sleep 5"), applied: true, happened: "the connection broke while the remote command ran", kind: "failed"},
		{name: "ssh-denied", argv: []string{"ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=" + s.dir + "/known_hosts", "-p", real, "-l", "nobody_such", "127.0.0.1", "touch x"}, happened: "the key was not accepted", kind: "failed"},
		{name: "ssh-unknown-host", argv: []string{"ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=none", "-p", real, "127.0.0.1", "touch x"}, happened: "the host's key is not known", kind: "failed"},
	} {
		s.play(c)
	}
}

// sshd starts a server for the plain user, and gives the options to log in.
func (s *stage) sshd() (port string, login []string) {
	dir := filepath.Join(s.dir, "sshd")
	if _, err := os.Stat(dir); err != nil {
		check(os.Mkdir(dir, 0o755))
		for _, key := range []string{"host", "user"} {
			check(exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).Run())
		}
		own(dir, filepath.Join(dir, "host"))
	}
	port = closed()
	config := "Port " + port + "\nListenAddress 127.0.0.1\nHostKey " + dir + "/host\nAuthorizedKeysFile " + dir +
		"/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPrintMotd no\n"
	check(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644))
	host, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	check(err)
	known := "[127.0.0.1]:" + port + " " + strings.Join(strings.Fields(string(host))[:2], " ") + "\n"
	check(os.WriteFile(filepath.Join(s.dir, "known_hosts"), []byte(known), 0o644))
	path, err := exec.LookPath("sshd") // it must be started by its whole path
	check(err)
	server := plain(exec.Command(path, "-D", "-q", "-f", filepath.Join(dir, "config")))
	s.start(server, port)
	return port, []string{"-F", "none", "-o", "BatchMode=yes", "-i", filepath.Join(dir, "user"),
		"-o", "UserKnownHostsFile=" + s.dir + "/known_hosts", "-l", plainUser().Username}
}

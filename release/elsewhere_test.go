package main

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// largest is what the tool may weigh on Linux and amd64: a choice, and a promise
// (RATIONALE.md, "How large may the tool be?").
const largest = 16_500_000

// Programs for other machines cannot be run here. They are looked at: the format,
// the processor, and what Go says of how it was built.
func TestInstalledElsewhere(t *testing.T) {
	t.Parallel()
	wholeOnly(t)
	for _, system := range allTargets {
		t.Run(system.os+"/"+system.arch, func(t *testing.T) {
			dir := t.TempDir()
			if system.os == "windows" {
				must(t, "python3", "-m", "zipfile", "-e", the(t, "outlast_*_windows_"+system.arch+".zip"), dir)
			} else {
				must(t, "tar", "-xzf", the(t, "outlast_*_"+system.os+"_"+system.arch+".tar.gz"), "-C", dir)
			}
			found, _ := filepath.Glob(filepath.Join(dir, "*", system.program()))
			if len(found) != 1 {
				t.Fatalf("%q", found)
			}
			if machine := machineOf(t, found[0]); machine != system.os+" "+system.arch {
				t.Errorf("its format and processor are %s", machine)
			}
			info, err := buildinfo.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			for key, want := range map[string]string{"GOOS": system.os, "GOARCH": system.arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
				if settings[key] != want {
					t.Errorf("%s is %q, want %q", key, settings[key], want)
				}
			}
			if size, err := os.Stat(found[0]); system == (target{"linux", "amd64"}) && (err != nil || size.Size() > largest) {
				t.Errorf("%v: %d bytes", err, size.Size())
			}
		})
	}
}

// machineOf is what a program's own header says it runs on.
func machineOf(t *testing.T, path string) string {
	t.Helper()
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return "linux " + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		return "darwin " + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	f, err := pe.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return "windows " + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
}

// Every file has its line in SHA256SUMS.
func TestInstalledSums(t *testing.T) {
	t.Parallel()
	dir := theRelease(t)
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	r := &release{out: dir}
	list, err := r.digests()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != strings.Count(string(sums), "\n")+1 {
		t.Errorf("%d files, and\n%s", len(list), sums)
	}
	for _, s := range list {
		if s.Name != "SHA256SUMS" && !strings.Contains(string(sums), s.Digest["sha256"]+"  "+s.Name+"\n") {
			t.Errorf("%s is not in\n%s", s.Name, sums)
		}
	}
}

// The digests are signed and checked as docs/releasing.md tells, with a key that is
// made here; what was changed afterwards is found out.
func TestInstalledSignature(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"minisign", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	must(t, "cp", "-r", theRelease(t)+"/.", dir)
	in := func(argv ...string) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		return runQuietly(cmd)
	}
	sums := filepath.Join(dir, "SHA256SUMS")
	if err := errors.Join(
		in("minisign", "-G", "-W", "-p", "key.pub", "-s", "key.sec"),
		in("minisign", "-S", "-s", "key.sec", "-m", sums, "-t", "outlast 0.1.0"),
		in("minisign", "-V", "-p", "key.pub", "-m", sums),
		in("sha256sum", "--check", "--quiet", "SHA256SUMS"),
	); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "RELEASE.md"), []byte("another text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if in("sha256sum", "--check", "--quiet", "SHA256SUMS") == nil {
		t.Error("a changed file is not found out")
	}
	if err := os.WriteFile(sums, []byte("another\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if in("minisign", "-V", "-p", "key.pub", "-m", sums) == nil {
		t.Error("changed digests are not found out")
	}
}

package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// machine is what kind of machine this is, as far as it tells.
func machine() []string {
	list := []string{
		cpu() + ", " + strconv.Itoa(runtime.NumCPU()) + " cores",
		system(),
		"Go " + strings.TrimPrefix(runtime.Version(), "go"),
	}
	if out, err := exec.Command("python3", "--version").Output(); err == nil {
		list = append(list, strings.TrimSpace(string(out)))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		one, _, _ := strings.Cut(string(load), " ")
		list = append(list, "a load of "+one+" in the last minute before")
	}
	return list
}

func cpu() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := valueOf(string(text), "model name", ":"); name != "" {
			return name
		}
	}
	if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	return runtime.GOARCH
}

func system() string {
	name := runtime.GOOS
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		name = strings.Trim(valueOf(string(text), "PRETTY_NAME", "="), `"`)
	}
	if out, err := exec.Command("uname", "-srm").Output(); err == nil {
		name += ", " + strings.TrimSpace(string(out))
	}
	return name
}

// valueOf is what stands behind a name in a file of lines.
func valueOf(text, name, sep string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, sep); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

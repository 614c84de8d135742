package git

import (
	"testing"

	"outlast/commands/internal/linetest"
)

func TestLines(t *testing.T) {
	linetest.Check(t, Command, map[string]linetest.Sure{
		"git ls-remote http://h/r":          linetest.Reads,
		"git -C x fetch --depth 1 origin":   linetest.Reads,
		"git --git-dir=x fetch -pq":         linetest.Reads,
		"git clone --branch=b http://h/r d": linetest.Reads,
		"git clone -j4 r":                   linetest.Reads,
		"git push":                          linetest.Unsure,
		"git pull":                          linetest.Unsure,
		"git -c core.sshCommand=x fetch":    linetest.Unsure,
		"git clone -u x r":                  linetest.Unsure,
		"git clone -c a=b r":                linetest.Unsure,
		"git fetch --upload-pack=x":         linetest.Unsure,
		"git fetch --recurse-submodules":    linetest.Unsure,
		"git clone ext::x":                  linetest.Unsure,
		"git clone --template=x r":          linetest.Unsure, // a template brings hooks
		"git":                               linetest.Unsure,
		"git -C":                            linetest.Unsure,
	})
}

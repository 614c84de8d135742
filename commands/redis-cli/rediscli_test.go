package rediscli

import (
	"testing"

	"outlast/commands/internal/linetest"
)

func TestLines(t *testing.T) {
	linetest.Check(t, Command, map[string]linetest.Sure{
		"redis-cli SET a b":               linetest.Direct,
		"redis-cli GET a":                 linetest.DirectRead,
		"redis-cli -h h -p 1 -n 2 get a":  linetest.DirectRead,
		"redis-cli -u redis://h SET a -r": linetest.Direct, // what follows the command is its own
		"redis-cli -e SET a b":            linetest.Unsure,
		"redis-cli -e GET a":              linetest.Reads,
		"redis-cli":                       linetest.Unsure,
		"redis-cli -h h":                  linetest.Unsure,
		"redis-cli -r 3 INCR a":           linetest.Unsure,
		"redis-cli -c SET a b":            linetest.Unsure,
		"redis-cli --pipe":                linetest.Unsure,
		"redis-cli --eval a.lua":          linetest.Unsure,
		"redis-cli --cluster check h":     linetest.Unsure,
		"redis-cli GETDEL a":              linetest.Direct,
		"redis-cli -x SET a":              linetest.Direct,
		"redis-cli -p":                    linetest.Unsure,
		"redis-cli -rSET":                 linetest.Unsure,
	})
}

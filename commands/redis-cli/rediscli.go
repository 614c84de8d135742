// Package rediscli has what is known of redis-cli: its policy, and what its line
// tells.
package rediscli

import (
	"strings"

	"outlast/commands/internal/line"
)

// Command is redis-cli.
var Command = line.Command{Parse: parse, Words: "Could not connect to Redis at "}

// grammar has the options of redis-cli 5 to 7 after which one command is
// sent once. -r and -i repeat it, -c goes to other servers, --pipe, --eval and
// the rest are programs of their own.
var grammar = line.Grammar{OptFirst: true, Unbundled: true,
	Alone:     `-e -x -2 -3 --raw --no-raw --csv --json --quoted-input --no-auth-warning --tls --insecure`,
	WithValue: `-h -p -s -u -a --user --pass -n -t -d -D -X --sni --cacert --cacertdir --cert --key --tls-ciphers`,
}

// reads are commands that only read; of those with a variant that writes,
// none.
var reads line.Names = `PING ECHO TIME INFO DBSIZE EXISTS TYPE TTL PTTL STRLEN GET MGET GETRANGE
	HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS LLEN LRANGE LINDEX
	SCARD SMEMBERS SISMEMBER ZCARD ZCOUNT ZRANGE ZRANK ZSCORE XLEN XRANGE`

// parse: commands that come on stdin are sent over a connection that redis-cli
// makes anew when it breaks, and a failure of that looks like one of the first.
// With -e what a server answers is printed as redis-cli's own words are.
func parse(argv, _ []string) line.Line {
	options, command, ok := grammar.Scan(argv[1:])
	if !ok || len(command) == 0 {
		return line.Line{}
	}
	found := line.Line{Read: reads.Has(strings.ToUpper(command[0])), Direct: true, Unsent: unsent}
	for _, o := range options {
		found.Direct = found.Direct && o.Name != "-e"
	}
	return found
}

func unsent(exit int64, stderr string) bool {
	return exit == 1 && strings.HasPrefix(stderr, "Could not connect to Redis at ")
}

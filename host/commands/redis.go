package commands

import "strings"

// redisGrammar has the options of redis-cli 5 to 7 after which one command is
// sent once. -r and -i repeat it, -c goes to other servers, --pipe, --eval and
// the rest are programs of their own.
var redisGrammar = grammar{optFirst: true, unbundled: true, flags: flags{
	`-e -x -2 -3 --raw --no-raw --csv --json --quoted-input --no-auth-warning --tls --insecure`,
	`-h -p -s -u -a --user --pass -n -t -d -D -X --sni --cacert --cacertdir --cert --key --tls-ciphers`}}

// redisReads are commands that only read; of those with a variant that writes,
// none.
var redisReads names = `PING ECHO TIME INFO DBSIZE EXISTS TYPE TTL PTTL STRLEN GET MGET GETRANGE
	HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS LLEN LRANGE LINDEX
	SCARD SMEMBERS SISMEMBER ZCARD ZCOUNT ZRANGE ZRANK ZSCORE XLEN XRANGE`

// redis: commands that come on stdin are sent over a connection that redis-cli
// makes anew when it breaks, and a failure of that looks like one of the first.
// With -e what a server answers is printed as redis-cli's own words are.
func redis(args []string) Line {
	options, command, ok := redisGrammar.scan(args)
	if !ok || len(command) == 0 {
		return Line{}
	}
	line := Line{Read: redisReads.has(strings.ToUpper(command[0])), Direct: true, unsent: redisUnsent}
	for _, o := range options {
		line.Direct = line.Direct && o.name != "-e"
	}
	return line
}

func redisUnsent(exit int64, stderr string) bool {
	return exit == 1 && strings.HasPrefix(stderr, "Could not connect to Redis at ")
}

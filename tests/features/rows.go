package main

// row is a feature, as the table names it.
type row struct{ id, what string }

// rows are in the table's order: first what a call does, then what a program around it
// needs, and then what others have and outlast does not.
var rows = []row{
	{"broke", "a POST whose connection breaks, retried on the client's errors: how often is it applied in 3 attempts"},
	{"named", "the same, retried on connect errors alone"},
	{"moved", "a POST that is redirected to a port where nobody listens, retried on connect errors alone"},
	{"clock", "a time limit runs from the first failure, so that a slow first attempt takes nothing from it"},
	{"clamp", "the last wait is shortened, so that there is an attempt at the limit itself"},
	{"back", "the server's return is noticed, in the midst of a wait"},
	{"after", "`Retry-After` is kept to, with no code of yours"},
	{"random", "waits are random if nothing is said of them"},
	{"attempt", "a time limit of each attempt"},
	{"cancel", "giving up a call ends its wait at once"},
	{"nested", "one within another, with 3 attempts each, makes 3 attempts"},
	{"value", "a value that is returned can count as a failure"},
	{"loop", "a loop over attempts, beside a function"},
	{"generator", "a generator that fails is begun again"},
	{"backoff", "waits by a function of yours"},
	{"types", "a call keeps the function's type"},
	{"document", "one policy, in a file, for programs in several languages"},
	{"metrics", "metrics, ready made"},
	{"spans", "a span for each attempt, ready made"},
	{"off", "one switch for tests turns retries off"},
	{"breaker", "circuit breaker"},
	{"bulkhead", "bulkhead: so many calls at a time"},
	{"hedge", "hedging: a second attempt beside a slow one"},
	{"fallback", "a value in place of a failure"},
	{"cache", "caching of values"},
	{"shared", "a budget of retries that calls share"},
	{"needs", "other packages that it needs"},
}

// libraries are the table's columns, with the languages in which each is tried.
var libraries = []struct {
	name      string
	languages []string
}{
	{"outlast", []string{"Go", "Python", "Node"}},
	{"tenacity", []string{"Python"}},
	{"stamina", []string{"Python"}},
	{"p-retry", []string{"Node"}},
	{"cockatiel", []string{"Node"}},
	{"failsafe-go", []string{"Go"}},
	{"resilience4j", []string{"Java"}},
}

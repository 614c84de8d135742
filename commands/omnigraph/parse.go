package omnigraph

import "strings"

// Invocation is what a command line of omnigraph does, and where.
type Invocation struct {
	// Command is the program, as it was called.
	Command string
	// Verb is the command in full and by its own name, such as "query" for read
	// or "branch create"; "" if there is none. An unknown one is as given.
	Verb string
	// Write says that it may change something. Only what is surely a read is none.
	Write bool
	// Remote says that it goes to a server, or where it goes is not known from
	// the command line.
	Remote bool
	// Ambiguous says that the command line can be read in more than one way. It
	// is a write then.
	Ambiguous bool
	// Server is the value of --server, a URL or a name; "" if there is none.
	Server string
	// Store is the one graph's storage that is opened directly, a path or a URI
	// as given; "" if there is none, or if it contradicts another address.
	Store string

	params given
}

// given is a query's parameters, or the file of them, and how often there are any.
type given struct {
	value string
	file  bool
	times int
}

// Parse reads argv, the program's name first. It accepts anything.
//
// A flag that it does not know and that is followed by a word may have that
// word for its value, or stand alone in front of an argument. Parse takes the
// word for its value and the invocation for ambiguous, thus for a write. If the
// word was the storage after all, the target is simply not known; if it was not,
// omnigraph itself refuses any second storage. A flag that lacks its value, and
// an address that is given twice, make an invocation ambiguous too.
func Parse(argv []string) Invocation { return parsed(argv).inv }

func parsed(argv []string) *parser {
	if len(argv) == 0 {
		return &parser{inv: Invocation{Write: true, Remote: true, Ambiguous: true}}
	}
	p := &parser{inv: Invocation{Command: argv[0]}, args: renamed(argv[1:])}
	for len(p.args) > 0 {
		p.next()
	}
	p.finish()
	return p
}

// renamed mends the old two-word name of lint, which omnigraph takes only right
// behind its own name.
func renamed(args []string) []string {
	if len(args) >= 2 && args[0] == "query" && (args[1] == "lint" || args[1] == "check") {
		return append([]string{"lint"}, args[2:]...)
	}
	return args
}

type parser struct {
	inv         Invocation
	args        []string
	words       []string // the command's: one, or two of a family
	positionals []string
	literal     bool // after --
	help        bool

	server, store, cluster, named address
	profile                       address // any other address goes before it
	direct                        bool    // whatever the folder says
}

// address is what a kind of addressing flag was given.
type address struct {
	given bool
	value string
}

func (p *parser) next() {
	arg := p.args[0]
	p.args = p.args[1:]
	switch {
	case p.literal:
		p.positionals = append(p.positionals, arg)
	case arg == "--":
		p.literal = true
	case strings.HasPrefix(arg, "--"):
		p.long(arg[2:])
	case len(arg) > 1 && arg[0] == '-':
		p.short(arg[1:])
	case len(p.words) == 0, len(p.words) == 1 && families[p.words[0]]:
		p.words = append(p.words, arg)
	default:
		p.positionals = append(p.positionals, arg)
	}
}

func (p *parser) long(flag string) {
	name, value, attached := strings.Cut(flag, "=")
	kind, known := longFlags[name]
	if !known {
		p.unknown(attached)
		return
	}
	p.known(kind, value, attached)
}

// short reads -e VALUE, -eVALUE and -e=VALUE, and flags without a value, alone.
func (p *parser) short(flags string) {
	kind, known := shortFlags[flags[0]]
	switch {
	case !known || kind == helpFlag && len(flags) > 1:
		p.unknown(false)
	case len(flags) > 1:
		p.known(kind, strings.TrimPrefix(flags[1:], "="), true)
	default:
		p.known(kind, "", false)
	}
}

// unknown takes the next word, if there is one, for the flag's value.
func (p *parser) unknown(attached bool) {
	if attached || len(p.args) == 0 || isFlag(p.args[0]) {
		return
	}
	p.args = p.args[1:]
	p.inv.Ambiguous = true
}

func (p *parser) known(kind role, value string, attached bool) {
	switch kind {
	case noValue, helpFlag, directFlag:
		p.help = p.help || kind == helpFlag
		p.direct = p.direct || kind == directFlag
		return
	}
	if !attached {
		if len(p.args) == 0 || isFlag(p.args[0]) {
			p.inv.Ambiguous = true // omnigraph refuses this
			return
		}
		value, p.args = p.args[0], p.args[1:]
	}
	switch kind {
	case serverURL:
		p.set(&p.server, value)
	case storeURI:
		p.set(&p.store, value)
	case clusterURI:
		p.set(&p.cluster, value)
	case namedScope:
		p.set(&p.named, value)
	case paramsText, paramsFile:
		p.inv.params = given{value, kind == paramsFile, p.inv.params.times + 1}
	case profileName:
		p.profile = address{given: true, value: value}
	}
}

// set notes an address. omnigraph refuses a second one, except before and
// behind the command's name, where the latter counts.
func (p *parser) set(a *address, value string) {
	if a.given && a.value != value || value == "" {
		p.inv.Ambiguous = true
	}
	*a = address{given: true, value: value}
}

// isFlag says whether omnigraph would take the word for a flag, and so not for
// the value of the flag before it. "-" is a word.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-'
}

func (p *parser) finish() {
	name := canonical(strings.Join(p.words, " "))
	verb, known := verbs[name]
	p.inv.Verb = name
	p.inv.Server = p.server.value
	if len(p.words) == 0 && p.help && !p.inv.Ambiguous {
		return // it prints its usage or its version
	}
	p.target(verb)
	p.inv.Write = !known || !verb.read || p.inv.Ambiguous
}

// target finds where the invocation goes. More than one way to say it is
// refused by omnigraph, and left unknown here; but of a flag and an argument that
// name a store, the flag counts, as in omnigraph behind that refusal.
func (p *parser) target(verb verb) {
	switch {
	case !verb.uri || len(p.positionals) == 0:
	case p.store.value != "":
		p.inv.Ambiguous = true
	default:
		p.set(&p.store, p.positionals[0])
	}
	ways := p.ways()
	switch {
	case ways == 0:
		p.inv.Remote = !verb.here // the configuration says where
	case ways == 1 && p.cluster.given:
		// Its storage is opened directly, but which graph's is not known.
	case ways == 1 && p.store.value != "" && scheme(p.store.value) != otherScheme:
		p.inv.Store = p.store.value
	default:
		p.inv.Remote = true
	}
}

// ways counts how often the command line says where the invocation goes, the
// profile aside.
func (p *parser) ways() (n int) {
	for _, a := range []address{p.server, p.store, p.cluster, p.named} {
		if a.given {
			n++
		}
	}
	return n
}

// Package curl has what is known of curl: its policy, and what its line tells.
package curl

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"outlast/commands/internal/line"
	"outlast/internal/environ"
)

// Command is curl.
var Command = line.Command{Parse: parse, Words: "curl: (%d) "}

// grammar has the options of curl 7.88 that neither add a transfer nor read
// more options, and of those that do the common ones of a read. The others,
// such as --next, -K, --parallel, --anyauth, --alt-svc, --hsts and --http3, are left
// out.
var grammar = line.Grammar{
	Alone: `-s --silent -S --show-error -f --fail --fail-with-body -i --include -I --head -G --get
	 -k --insecure -v --verbose -# --progress-bar --no-progress-meter -N --no-buffer -q --disable
	 -O --remote-name -J --remote-header-name -R --remote-time --create-dirs --compressed
	 -4 --ipv4 -6 --ipv6 -0 --http1.0 --http1.1 --http2 --http2-prior-knowledge --alpn --no-alpn -1 --tlsv1
	 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 -g --globoff --path-as-is --basic -n --netrc -p --proxytunnel
	 --tcp-nodelay --raw -L --location --retry-all-errors --retry-connrefused`,
	WithValue: `-o --output --output-dir -D --dump-header -w --write-out -H --header -A --user-agent -e --referer
	 -b --cookie -c --cookie-jar -u --user --oauth2-bearer -m --max-time --connect-timeout
	 -E --cert --key --cacert --capath --cert-type --key-type --pass --ciphers --tls13-ciphers
	 -x --proxy -U --proxy-user --noproxy --proxy-header --resolve --connect-to --interface --unix-socket
	 -r --range -z --time-cond -y --speed-time -Y --speed-limit --limit-rate --keepalive-time
	 --netrc-file --max-filesize --max-redirs --retry --retry-delay --retry-max-time
	 -X --request --url -d --data --data-ascii --data-raw --data-binary --data-urlencode --json
	 -F --form --form-string -T --upload-file`,
}

var (
	severalOptions line.Names = `-L --location --retry --retry-all-errors --retry-connrefused`
	dataOptions    line.Names = `-d --data --data-ascii --data-raw --data-binary --data-urlencode`
	uploadOptions  line.Names = `--json -F --form --form-string -T --upload-file`
	// These write where they are told, or read more from a file.
	fileOptions line.Names = `-o --output -D --dump-header -c --cookie-jar -w --write-out`
)

// parse: a read is a GET or HEAD by http or https. It is Direct if it is one
// transfer: a transfer after another one can fail to connect when the one
// before has been sent.
func parse(argv, env []string) line.Line {
	args := argv[1:]
	options, urls, ok := grammar.Scan(args)
	if !ok || readsConfig(args, env) {
		return line.Line{}
	}
	method, data, get, upload, globs := "", false, false, false, true
	unsure := mayExpect(options) // or its words may be somebody else's
	for _, o := range options {
		switch {
		case o.Name == "--url":
			urls = append(urls, o.Value)
		case o.Name == "-X" || o.Name == "--request":
			method = o.Value
		case o.Name == "-G" || o.Name == "--get":
			get = true
		case o.Name == "-g" || o.Name == "--globoff":
			globs = false
		case uploadOptions.Has(o.Name):
			upload = true
			globbed := o.Name == "-T" || o.Name == "--upload-file"
			unsure = unsure || globbed && strings.ContainsAny(o.Value, "{}[]")
		case fileOptions.Has(o.Name):
			unsure = unsure || mayImitate(o.Value)
		}
		data = data || dataOptions.Has(o.Name)
		unsure = unsure || severalOptions.Has(o.Name)
	}
	for _, u := range urls {
		if !line.StartsWithAny(strings.ToLower(u), "http://", "https://") {
			return line.Line{} // of another protocol, or one that curl guesses
		}
		unsure = unsure || globs && strings.ContainsAny(u, "{}[]")
	}
	unsure = unsure || mayMultiplex(options, urls)
	safe := method == "" || method == "GET" || method == "HEAD"
	return line.Line{
		Read:   len(urls) > 0 && safe && !upload && (get || !data),
		Direct: len(urls) == 1 && !unsure,
		Unsent: unsent,
	}
}

// maxUnexpected is the longest body, in bytes, with which no curl asks for a
// "100 Continue" first; since 2017 it is 1 MiB.
const maxUnexpected = 1024

// mayExpect says whether curl may ask its server to expect a body. One that
// refuses (417) is sent the whole request again over the same connection, and,
// if that breaks, over a new one: curl then ends with 7 although a request may
// have been carried out. An empty "Expect:" header rules it out.
func mayExpect(options []line.Option) bool {
	off, unknown, body := false, false, 0
	for _, o := range options {
		header := strings.ToLower(strings.ReplaceAll(o.Value, " ", ""))
		switch {
		case (o.Name == "-H" || o.Name == "--header") && header == "expect:":
			off = true
		case (o.Name == "-H" || o.Name == "--header") && line.StartsWithAny(header, "expect", "@"):
			return true
		case o.Name == "--data-raw":
			body += len(o.Value)
		case dataOptions.Has(o.Name) || o.Name == "--json":
			body += 3 * len(o.Value) // as it may be encoded
			unknown = unknown || strings.Contains(o.Value, "@")
		case uploadOptions.Has(o.Name):
			unknown = true
		}
	}
	return !off && (unknown || body > maxUnexpected)
}

// mayMultiplex says whether a request may go by HTTP/2. There a server can
// take a request, carry it out, and refuse its stream (REFUSED_STREAM) or ask for
// the older protocol (HTTP_1_1_REQUIRED); curl then sends it again over a new
// connection, and ends with 7 if nobody listens any more. HTTP/1 has no such
// answer.
//
// By https curl offers HTTP/2 unasked, in the TLS handshake (ALPN), by http only
// if told to. The last option about either counts. Alt-Svc and HSTS, which could
// lead elsewhere, are off without an option that is not in the grammar.
func mayMultiplex(options []line.Option, urls []string) bool {
	version, offers := "", true
	for _, o := range options {
		switch o.Name {
		case "-0", "--http1.0", "--http1.1", "--http2", "--http2-prior-knowledge":
			version = o.Name
		case "--alpn", "--no-alpn":
			offers = o.Name == "--alpn"
		}
	}
	if version != "" {
		return strings.HasPrefix(version, "--http2")
	}
	return offers && slices.ContainsFunc(urls, func(u string) bool { return line.StartsWithAny(strings.ToLower(u), "https:") })
}

// inherited is a descriptor that the caller gave, as bash does for >(…): stderr is
// a pipe that nothing but the attempt has.
var inherited = regexp.MustCompile(`^/dev/fd/([3-9]|[1-9][0-9]+)$`)

// mayImitate says whether a value may bring what a server sends to stderr,
// where it could look like curl's own words, or holds what is not known.
func mayImitate(value string) bool {
	return line.IsDevice(value) && !inherited.MatchString(value) || strings.HasPrefix(value, "@") || strings.Contains(value, "%{stderr}")
}

// unsent: 5, 6 and 7 are a proxy's and a host's name that does not resolve,
// and a connection that cannot be made. 28 is every time-out. curl's words must
// say the same: where it tried more than once, they tell of the first failure,
// the code of the last. With -s and no -S there are none, and nothing is sure.
func unsent(exit int64, stderr string) bool {
	switch exit {
	case 5:
		return strings.HasPrefix(ownWords(stderr), "curl: (5) Could not resolve proxy: ")
	case 6:
		return strings.HasPrefix(ownWords(stderr), "curl: (6) Could not resolve host: ")
	case 7:
		return strings.HasPrefix(ownWords(stderr), "curl: (7) Failed to connect to ")
	case 28: // behind anything, it could be a server's saying
		return line.StartsWithAny(stderr, "curl: (28) Connection timeout after", "curl: (28) Connection timed out after",
			"curl: (28) Failed to connect to ", "curl: (28) Resolving timed out after")
	}
	return false
}

// ownWords is stderr from where curl says how it ended: the first line of this
// kind, behind the progress meter and what -v tells.
func ownWords(stderr string) string {
	if i := strings.Index("\n"+stderr, "\ncurl: ("); i >= 0 {
		return stderr[i:]
	}
	return ""
}

// readsConfig says whether curl may read options from the user's files: not
// with -q as its first argument, and not if there is no such file.
func readsConfig(args []string, env []string) bool {
	if len(args) > 0 && (args[0] == "--disable" || args[0] == "-q") {
		return false
	}
	files, known := configs(env)
	return !known || line.AnyReadable(files)
}

// configs are the files that curl may take for its .curlrc. It takes the
// first that it can open; CURL_HOME and XDG_CONFIG_HOME come before HOME, and
// the account's home last. Releases before 7.88 know fewer of them.
func configs(env []string) (files []string, known bool) {
	dirs, known := line.Homes(env)
	for _, dir := range append([]string{environ.Get(env, "CURL_HOME"), environ.Get(env, "XDG_CONFIG_HOME")}, dirs...) {
		if dir == "" {
			continue
		}
		for _, name := range []string{".curlrc", "_curlrc", "curlrc", ".config/curlrc", ".config/.curlrc"} {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, known
}

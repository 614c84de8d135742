package commands

import (
	"path/filepath"
	"slices"
	"strings"
)

// curlGrammar has the options of curl 7.88 that neither add a transfer nor read
// more options, and of those that do the common ones of a read. The others,
// such as --next, -K, --parallel, --anyauth, --alt-svc, --hsts and --http3, are left
// out.
var curlGrammar = grammar{flags: flags{
	`-s --silent -S --show-error -f --fail --fail-with-body -i --include -I --head -G --get
	 -k --insecure -v --verbose -# --progress-bar --no-progress-meter -N --no-buffer -q --disable
	 -O --remote-name -J --remote-header-name -R --remote-time --create-dirs --compressed
	 -4 --ipv4 -6 --ipv6 -0 --http1.0 --http1.1 --http2 --http2-prior-knowledge --alpn --no-alpn -1 --tlsv1
	 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 -g --globoff --path-as-is --basic -n --netrc -p --proxytunnel
	 --tcp-nodelay --raw -L --location --retry-all-errors --retry-connrefused`,
	`-o --output --output-dir -D --dump-header -w --write-out -H --header -A --user-agent -e --referer
	 -b --cookie -c --cookie-jar -u --user --oauth2-bearer -m --max-time --connect-timeout
	 -E --cert --key --cacert --capath --cert-type --key-type --pass --ciphers --tls13-ciphers
	 -x --proxy -U --proxy-user --noproxy --proxy-header --resolve --connect-to --interface --unix-socket
	 -r --range -z --time-cond -y --speed-time -Y --speed-limit --limit-rate --keepalive-time
	 --netrc-file --max-filesize --max-redirs --retry --retry-delay --retry-max-time
	 -X --request --url -d --data --data-ascii --data-raw --data-binary --data-urlencode --json
	 -F --form --form-string -T --upload-file`}}

var (
	curlSeveral names = `-L --location --retry --retry-all-errors --retry-connrefused`
	curlData    names = `-d --data --data-ascii --data-raw --data-binary --data-urlencode`
	curlUploads names = `--json -F --form --form-string -T --upload-file`
	// These write where they are told, or read more from a file.
	curlFiles names = `-o --output -D --dump-header -c --cookie-jar -w --write-out`
)

// curl: a read is a GET or HEAD by http or https. It is Direct if it is one
// transfer: a transfer after another one can fail to connect when the one
// before has been sent.
func curl(args []string, env map[string]string) Line {
	options, urls, ok := curlGrammar.scan(args)
	if !ok || curlReadsConfig(args, env) {
		return Line{}
	}
	method, data, get, upload, globs := "", false, false, false, true
	unsure := curlMayExpect(options) // or its words may be somebody else's
	for _, o := range options {
		switch {
		case o.name == "--url":
			urls = append(urls, o.value)
		case o.name == "-X" || o.name == "--request":
			method = o.value
		case o.name == "-G" || o.name == "--get":
			get = true
		case o.name == "-g" || o.name == "--globoff":
			globs = false
		case curlUploads.has(o.name):
			upload = true
			globbed := o.name == "-T" || o.name == "--upload-file"
			unsure = unsure || globbed && strings.ContainsAny(o.value, "{}[]")
		case curlFiles.has(o.name):
			unsure = unsure || curlMayImitate(o.value)
		}
		data = data || curlData.has(o.name)
		unsure = unsure || curlSeveral.has(o.name)
	}
	for _, u := range urls {
		if !startsWithAny(strings.ToLower(u), "http://", "https://") {
			return Line{} // of another protocol, or one that curl guesses
		}
		unsure = unsure || globs && strings.ContainsAny(u, "{}[]")
	}
	unsure = unsure || curlMayMultiplex(options, urls)
	safe := method == "" || method == "GET" || method == "HEAD"
	return Line{
		Read:   len(urls) > 0 && safe && !upload && (get || !data),
		Direct: len(urls) == 1 && !unsure,
		unsent: curlUnsent,
	}
}

// maxUnexpected is the longest body, in bytes, with which no curl asks for a
// "100 Continue" first; since 2017 it is 1 MiB.
const maxUnexpected = 1024

// curlMayExpect says whether curl may ask its server to expect a body. One that
// refuses (417) is sent the whole request again over the same connection, and,
// if that breaks, over a new one: curl then ends with 7 although a request may
// have been carried out. An empty "Expect:" header rules it out.
func curlMayExpect(options []option) bool {
	off, unknown, body := false, false, 0
	for _, o := range options {
		header := strings.ToLower(strings.ReplaceAll(o.value, " ", ""))
		switch {
		case (o.name == "-H" || o.name == "--header") && header == "expect:":
			off = true
		case (o.name == "-H" || o.name == "--header") && startsWithAny(header, "expect", "@"):
			return true
		case o.name == "--data-raw":
			body += len(o.value)
		case curlData.has(o.name) || o.name == "--json":
			body += 3 * len(o.value) // as it may be encoded
			unknown = unknown || strings.Contains(o.value, "@")
		case curlUploads.has(o.name):
			unknown = true
		}
	}
	return !off && (unknown || body > maxUnexpected)
}

// curlMayMultiplex says whether a request may go by HTTP/2. There a server can
// take a request, carry it out, and refuse its stream (REFUSED_STREAM) or ask for
// the older protocol (HTTP_1_1_REQUIRED); curl then sends it again over a new
// connection, and ends with 7 if nobody listens any more. HTTP/1 has no such
// answer.
//
// By https curl offers HTTP/2 unasked, in the TLS handshake (ALPN), by http only
// if told to. The last option about either counts. Alt-Svc and HSTS, which could
// lead elsewhere, are off without an option that is not in the grammar.
func curlMayMultiplex(options []option, urls []string) bool {
	version, offers := "", true
	for _, o := range options {
		switch o.name {
		case "-0", "--http1.0", "--http1.1", "--http2", "--http2-prior-knowledge":
			version = o.name
		case "--alpn", "--no-alpn":
			offers = o.name == "--alpn"
		}
	}
	if version != "" {
		return strings.HasPrefix(version, "--http2")
	}
	return offers && slices.ContainsFunc(urls, func(u string) bool { return startsWithAny(strings.ToLower(u), "https:") })
}

// curlMayImitate says whether a value may bring what a server sends to stderr,
// where it could look like curl's own words, or holds what is not known.
func curlMayImitate(value string) bool {
	return isDevice(value) || strings.HasPrefix(value, "@") || strings.Contains(value, "%{stderr}")
}

// curlUnsent: 5, 6 and 7 are a proxy's and a host's name that does not resolve,
// and a connection that cannot be made. 28 is every time-out. curl's words must
// say the same: where it tried more than once, they tell of the first failure,
// the code of the last. With -s and no -S there are none, and nothing is sure.
func curlUnsent(exit int64, stderr string) bool {
	switch exit {
	case 5:
		return strings.HasPrefix(curlWords(stderr), "curl: (5) Could not resolve proxy: ")
	case 6:
		return strings.HasPrefix(curlWords(stderr), "curl: (6) Could not resolve host: ")
	case 7:
		return strings.HasPrefix(curlWords(stderr), "curl: (7) Failed to connect to ")
	case 28: // behind anything, it could be a server's saying
		return startsWithAny(stderr, "curl: (28) Connection timeout after", "curl: (28) Connection timed out after",
			"curl: (28) Failed to connect to ", "curl: (28) Resolving timed out after")
	}
	return false
}

// curlWords is stderr from where curl says how it ended: the first line of this
// kind, behind the progress meter and what -v tells.
func curlWords(stderr string) string {
	if i := strings.Index("\n"+stderr, "\ncurl: ("); i >= 0 {
		return stderr[i:]
	}
	return ""
}

// curlReadsConfig says whether curl may read options from the user's files: not
// with -q as its first argument, and not if there is no such file.
func curlReadsConfig(args []string, env map[string]string) bool {
	if len(args) > 0 && (args[0] == "--disable" || args[0] == "-q") {
		return false
	}
	files, known := curlConfigs(env)
	return !known || anyReadable(files)
}

// curlConfigs are the files that curl may take for its .curlrc. It takes the
// first that it can open; CURL_HOME and XDG_CONFIG_HOME come before HOME, and
// the account's home last. Releases before 7.88 know fewer of them.
func curlConfigs(env map[string]string) (files []string, known bool) {
	dirs, known := homes(env)
	for _, dir := range append([]string{env["CURL_HOME"], env["XDG_CONFIG_HOME"]}, dirs...) {
		if dir == "" {
			continue
		}
		for _, name := range []string{".curlrc", "_curlrc", "curlrc", ".config/curlrc", ".config/.curlrc"} {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, known
}

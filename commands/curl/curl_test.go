package curl

import (
	"strings"
	"testing"

	"outlast/commands/internal/linetest"
)

func TestLines(t *testing.T) {
	linetest.Check(t, Command, map[string]linetest.Sure{
		"curl http://h/": linetest.DirectRead,
		"/usr/bin/curl -sS --url http://h/ -o out":              linetest.DirectRead,
		"curl -fsSLo out https://h/":                            linetest.Reads, // a redirect is another transfer
		"curl http://a/ http://b/":                              linetest.Reads,
		"curl http://h/[1-9]":                                   linetest.Reads,
		"curl -g http://[::1]/":                                 linetest.DirectRead,
		"curl -I HTTP://h/":                                     linetest.DirectRead,
		"curl -XGET http://h/":                                  linetest.DirectRead,
		"curl -X HEAD http://h/":                                linetest.DirectRead,
		"curl -X POST http://h/":                                linetest.Direct,
		"curl -XDELETE http://h/":                               linetest.Direct,
		"curl -X get http://h/":                                 linetest.Direct, // methods have a case
		"curl -d a=1 http://h/":                                 linetest.Direct,
		"curl -da=1 http://h/":                                  linetest.Direct,
		"curl -G -d a=1 http://h/":                              linetest.DirectRead,
		"curl -G --json {} http://h/":                           linetest.Direct,
		"curl --json {} http://h/":                              linetest.Direct,
		"curl -T f http://h/":                                   linetest.Unsure, // it asks the server to expect it
		"curl -H Expect: -T f http://h/":                        linetest.Direct,
		"curl -H Expect: -T {f,g} http://h/":                    linetest.Unsure,
		"curl -d @f http://h/":                                  linetest.Unsure,
		"curl --data-raw @f http://h/":                          linetest.Direct,
		"curl -d " + strings.Repeat("x", 2000) + " http://h/":   linetest.Unsure,
		"curl -H Expect:100-continue -d a=1 http://h/":          linetest.Unsure,
		"curl -H Expect: -H expect:100-continue -d a http://h/": linetest.Unsure,
		"curl -H @headers -d a=1 http://h/":                     linetest.Unsure,
		"curl -F a=b http://h/":                                 linetest.Unsure,
		"curl --retry 3 -d a=1 http://h/":                       linetest.Unsure,
		"curl --retry 3 http://h/":                              linetest.Reads,
		"curl -K f http://h/":                                   linetest.Unsure,
		"curl -d a=1 http://h/ --next http://h/":                linetest.Unsure,
		"curl -Z http://h/":                                     linetest.Unsure,
		"curl --anyauth -d a=1 http://h/":                       linetest.Unsure,
		"curl --some-new-option http://h/":                      linetest.Unsure,
		"curl h":                                                linetest.Unsure,
		"curl ftp://h/":                                         linetest.Unsure,
		"curl -sd":                                              linetest.Unsure, // the value is missing
		"curl":                                                  linetest.Unsure,
		"curl -o /dev/stderr http://h/":                         linetest.Reads,
		"curl -o //dev/fd/2 http://h/":                          linetest.Reads,
		"curl -o /dev/fd/02 http://h/":                          linetest.Reads,
		"curl -o /dev/fd/63/../2 http://h/":                     linetest.Reads,
		"curl -o /dev/fd/63 http://h/":                          linetest.DirectRead,
		"curl -D /dev/fd/3 -d a=1 http://h/":                    linetest.Direct,
		"curl -so /dev/null http://h/":                          linetest.DirectRead,
		"curl -w %{stderr}x http://h/":                          linetest.Reads,
		"curl -X POST -- http://h/":                             linetest.Unsure,

		// HTTP/2 is offered by https, and by http if it is asked for.
		"curl https://h/":                                        linetest.Reads,
		"curl -d a=1 https://h/":                                 linetest.Unsure,
		"curl -d a=1 HTTPS://h/":                                 linetest.Unsure,
		"curl -d a=1 --url https://h/":                           linetest.Unsure,
		"curl -d a=1 -x http://proxy https://h/":                 linetest.Unsure,
		"curl --http2 -d a=1 https://h/":                         linetest.Unsure,
		"curl --http2 -d a=1 http://h/":                          linetest.Unsure,
		"curl --http2-prior-knowledge -d a=1 http://h/":          linetest.Unsure,
		"curl --http2-prior-knowledge https://h/":                linetest.Reads,
		"curl --http3 -d a=1 https://h/":                         linetest.Unsure,
		"curl --http3-only -d a=1 https://h/":                    linetest.Unsure,
		"curl --http1.1 -d a=1 https://h/":                       linetest.Direct,
		"curl -d a=1 https://h/ --http1.1":                       linetest.Direct,
		"curl --http1.0 -d a=1 https://h/":                       linetest.Direct,
		"curl -0d a=1 https://h/":                                linetest.Direct,
		"curl -0 https://h/":                                     linetest.DirectRead,
		"curl --no-alpn -d a=1 https://h/":                       linetest.Direct,
		"curl --no-alpn --alpn -d a=1 https://h/":                linetest.Unsure,
		"curl --alpn --no-alpn -d a=1 https://h/":                linetest.Direct,
		"curl --no-alpn --http2-prior-knowledge -d a https://h/": linetest.Unsure,
		"curl --no-alpn --http2 -d a=1 https://h/":               linetest.Unsure,
		"curl --http2 --http1.1 -d a=1 https://h/":               linetest.Direct,
		"curl --http1.1 --http2 -d a=1 https://h/":               linetest.Unsure,
		"curl -0 --http2-prior-knowledge -d a=1 http://h/":       linetest.Unsure,
		"curl --http2-prior-knowledge -0 -d a=1 http://h/":       linetest.Direct,
		"curl --http1.1 --alpn -d a=1 https://h/":                linetest.Direct,
		"curl --alt-svc f -d a=1 http://h/":                      linetest.Unsure,
		"curl --hsts f -d a=1 http://h/":                         linetest.Unsure,
		"curl --proxy-http2 -x https://p -d a=1 http://h/":       linetest.Unsure,
	})
	for _, rc := range []string{".curlrc", "_curlrc", ".config/curlrc", ".config/.curlrc"} {
		linetest.Check(t, Command, map[string]linetest.Sure{
			"curl http://h/":       linetest.Unsure,
			"curl -q http://h/":    linetest.DirectRead,
			"curl -s -q http://h/": linetest.Unsure, // -q is not the first
		}, rc)
	}
}

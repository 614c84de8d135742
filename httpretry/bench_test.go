package httpretry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"outlast/host"
	"outlast/httpretry"
)

// What a request that is answered at once costs more than by the bare client: pairs in
// turn, each in the other order than the one before, by a connection that is kept.
func BenchmarkAnswered(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/404" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "said")
	}))
	defer server.Close()
	plugin, err := host.Open() // as a program has it; the tests' own asks the interpreter
	if err != nil {
		b.Fatal(err)
	}
	defer plugin.Close(b.Context())
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	bare := &http.Client{Transport: base}
	ours := &http.Client{Transport: httpretry.New(plugin, base, httpretry.Options{Ready: "/readyz"})}
	for _, c := range []struct{ name, method, path string }{{"GET", http.MethodGet, "/"}, {"POST", http.MethodPost, "/"}, {"GET, 404", http.MethodGet, "/404"}} {
		b.Run(c.name, func(b *testing.B) {
			var took [2][]time.Duration
			for i := range 2 * b.N {
				which := (i + i/2) % 2
				client := [2]*http.Client{bare, ours}[which]
				took[which] = append(took[which], ask(b, client, c.method, server.URL+c.path))
			}
			one, other := median(took[0]), median(took[1])
			b.ReportMetric(float64(one.Nanoseconds()), "bare-ns")
			b.ReportMetric(float64(other.Nanoseconds()), "httpretry-ns")
			b.ReportMetric(float64((other - one).Nanoseconds()), "more-ns")
			b.ReportMetric(100*float64(other-one)/float64(one), "%-more")
		})
	}
}

func ask(b *testing.B, client *http.Client, method, url string) time.Duration {
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("order")
	}
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return time.Since(began)
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

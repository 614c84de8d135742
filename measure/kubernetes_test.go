package measure

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/outages"
)

// The documents in testdata have the form in which kubectl 1.31 prints what an
// API server gives (the fields of core/v1 and of events.k8s.io/v1); what they
// tell is the two restarts that the built-in policies are sized against, with
// the times that were recorded, and a crash that is invented.
func fromFiles(t *testing.T, names ...string) ([]outages.Outage, []string) {
	t.Helper()
	var documents []Document
	for _, name := range names {
		file, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		documents = append(documents, Document{name, file})
	}
	list, notes, err := FromKubernetes(documents, "outlast test")
	if err != nil {
		t.Fatal(err)
	}
	mustBeWritable(t, list)
	return list, notes
}

func mustBeWritable(t *testing.T, list []outages.Outage) {
	t.Helper()
	if _, err := outages.Format(list); err != nil {
		t.Fatal(err)
	}
}

// told is an outage in a line.
func told(o *outages.Outage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v to %v:", o.Duration, o.Down.Format(time.TimeOnly), o.Up.Format(time.TimeOnly))
	for _, p := range o.Details.Phases {
		fmt.Fprintf(&b, " %s %v", p.State, p.Duration())
	}
	return b.String()
}

func TestTheMeasuredRestarts(t *testing.T) {
	for _, events := range []string{"events.json", "events-v1.json"} {
		list, notes := fromFiles(t, "pods-after-b.json", events, "pods-after-a.json")
		if len(list) != 2 || len(notes) != 0 {
			t.Fatalf("%s: %+v, %q", events, list, notes)
		}
		for i, want := range []string{
			"1m1s 21:20:21 to 21:21:22: terminating 31s starting 1s booting 29s",
			"52s 21:33:36 to 21:34:28: terminating 30s starting 1s booting 21s",
		} {
			if got := told(&list[i]); got != want {
				t.Errorf("%s: %s; want %s", events, got, want)
			}
			if list[i].Resolution() != time.Second || list[i].Details.Target != "kubernetes witan/graph" {
				t.Errorf("%s: %v, %+v", events, list[i].Resolution(), list[i].Details)
			}
		}
	}
}

// The end of restart A is not in what was recorded after restart B.
func TestAnEndThatNobodySaw(t *testing.T) {
	list, notes := fromFiles(t, "events.json", "pods-after-b.json")
	if len(list) != 1 || !strings.HasPrefix(told(&list[0]), "52s") {
		t.Errorf("%+v", list)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "witan/graph went away at 2026-08-03T21:20:21Z, and nothing tells when its pod graph-7c9d5f4b6d-q5tzn was ready") {
		t.Errorf("%q", notes)
	}
	list, notes = fromFiles(t, "events.json")
	if len(list) != 0 || len(notes) != 2 || !strings.Contains(notes[1], "21:33:36Z, and nothing tells that it was ready again") {
		t.Errorf("%+v, %q", list, notes)
	}
}

// A container that crashes is started again in its pod.
func TestACrash(t *testing.T) {
	list, notes := fromFiles(t, "pods-after-b.json", "pods-after-crash.json", "events.json", "pods-after-a.json")
	if len(list) != 3 || len(notes) != 0 || told(&list[2]) != "21s 21:50:10 to 21:50:31: starting 1s booting 20s" {
		t.Errorf("%+v, %q", list, notes)
	}
	// Ready was overwritten by the crash, but the container had run for long.
	list, _ = fromFiles(t, "pods-after-crash.json")
	if len(list) != 1 || told(&list[0]) != "21s 21:50:10 to 21:50:31: starting 1s booting 20s" {
		t.Errorf("%+v", list)
	}
}

// story makes pods and their events of a few words: pod kind second, …
func story(t *testing.T, text string) ([]outages.Outage, []string) {
	t.Helper()
	var objects []string
	for line := range strings.Lines(text) {
		var name, what string
		var second int
		if n, _ := fmt.Sscan(line, &name, &what, &second); n != 3 {
			continue
		}
		at := time.Date(2026, 8, 3, 21, 0, second, 0, time.UTC).Format(time.RFC3339)
		meta := fmt.Sprintf(`{"name": %q, "namespace": "n", "uid": "uid of %s"}`, name, name)
		switch what {
		case "Ready", "NotReady":
			status := map[string]string{"Ready": "True", "NotReady": "False"}[what]
			objects = append(objects, fmt.Sprintf(`{"kind": "Pod", "metadata": %s, "status": {"conditions": [{"type": "Ready", "status": %q, "lastTransitionTime": %q}]}}`, meta, status, at))
		case "Deleted":
			objects = append(objects, fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": %q, "namespace": "n", "uid": "uid of %s", "deletionTimestamp": %q, "deletionGracePeriodSeconds": 30}}`, name, name, at))
		default:
			objects = append(objects, fmt.Sprintf(`{"kind": "Event", "reason": %q, "message": "Back-off restarting failed container", "firstTimestamp": %q, "involvedObject": {"kind": "Pod", "name": %q, "namespace": "n", "uid": "uid of %s"}}`, what, at, name, name))
		}
	}
	list, notes, err := FromKubernetes([]Document{{"story", strings.NewReader(strings.Join(objects, "\n"))}}, "")
	if err != nil {
		t.Fatal(err)
	}
	mustBeWritable(t, list)
	return list, notes
}

func TestStories(t *testing.T) {
	for _, c := range []struct {
		name, story string
		want        []string // outages
		notes       int
	}{
		{"a rolling update has no gap", `
			web-7c9d5f4b6d-ddddd Killing 20
			web-66bddd5dc8-bbbbb Scheduled 5
			web-66bddd5dc8-bbbbb Started 6
			web-66bddd5dc8-bbbbb Ready 19`, nil, 0},
		{"nor has one in the same second", `
			web-7c9d5f4b6d-bbbbb Killing 20
			web-66bddd5dc8-ccccc Scheduled 5
			web-66bddd5dc8-ccccc Ready 20`, nil, 0},
		{"one replica of two", `
			db-0 Ready 1
			db-1 Ready 2
			db-0 Killing 10
			db-0 Ready 30`, nil, 0},
		{"both replicas", `
			db-0 Ready 1
			db-1 Ready 2
			db-0 Killing 10
			db-1 Killing 12
			db-0 Started 20
			db-0 Ready 30
			db-1 Ready 40`, []string{"18s 21:00:12 to 21:00:30: terminating 8s booting 10s"}, 0},
		{"two workloads", `
			db-0 Ready 1
			web-0 Ready 1
			db-0 Killing 10
			db-0 Ready 30`, []string{"20s 21:00:10 to 21:00:30: terminating 20s"}, 0},
		{"crashes until it works", `
			web-bcdfg Killing 10
			web-hjklm Scheduled 11
			web-hjklm Started 12
			web-hjklm BackOff 14
			web-hjklm Started 30
			web-hjklm BackOff 32
			web-hjklm Started 60
			web-hjklm Ready 70`, []string{"1m0s 21:00:10 to 21:01:10: terminating 1s starting 49s booting 10s"}, 0},
		{"not ready for a while", `
			web-bcdfg Ready 10
			web-bcdfg NotReady 20
			web-bcdfg Ready 25`, []string{"5s 21:00:20 to 21:00:25: unready 5s"}, 0},
		{"not ready, and then replaced", `
			web-bcdfg Ready 10
			web-bcdfg NotReady 20
			web-bcdfg Killing 40
			web-hjklm Scheduled 41
			web-hjklm Started 42
			web-hjklm NotReady 41
			web-hjklm Ready 50`, []string{"30s 21:00:20 to 21:00:50: unready 21s starting 1s booting 8s"}, 0},
		{"not ready from the beginning", `
			web-bcdfg Scheduled 10
			web-bcdfg Started 10
			web-bcdfg NotReady 10
			web-bcdfg Ready 20`, nil, 0},
		{"the deletion of a pod", `
			web-bcdfg Ready 1
			web-bcdfg Deleted 40
			web-bcdfg Killing 11
			web-hjklm Ready 50`, []string{"40s 21:00:10 to 21:00:50: terminating 40s"}, 0},
		{"a second, and still away", `
			web-bcdfg Ready 1
			web-bcdfg Killing 10
			web-bcdfg Started 10
			web-bcdfg Ready 11
			web-bcdfg Killing 20`, []string{"1s 21:00:10 to 21:00:11: booting 1s"}, 1},
		{"too short to be told", `
			web-bcdfg Ready 1
			web-bcdfg NotReady 10
			web-bcdfg Started 8
			web-hjklm Ready 10
			web-bcdfg Killing 10
			web-hjklm Killing 20
			web-jklmn Ready 25`, []string{"5s 21:00:20 to 21:00:25: terminating 5s"}, 0},
	} {
		list, notes := story(t, c.story)
		var got []string
		for i := range list {
			got = append(got, told(&list[i]))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") || len(notes) != c.notes {
			t.Errorf("%s: %q, %q; want %q and %d notes", c.name, got, notes, c.want, c.notes)
		}
	}
}

// What comes and goes by design is no server that went away.
func TestWhatIsNoOutage(t *testing.T) {
	const at = `"firstTimestamp": "2026-08-03T21:00:10Z"`
	ready := `{"kind": "Pod", "metadata": {"name": "a-bcdfg", "uid": "1"}, "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-08-03T21:00:20Z"}]}}`
	for name, text := range map[string]string{
		"an init container":           `{"kind": "Event", "reason": "Killing", ` + at + `, "involvedObject": {"kind": "Pod", "name": "a-bcdfg", "uid": "1", "fieldPath": "spec.initContainers{wait}"}}`,
		"a Job":                       `{"kind": "Pod", "metadata": {"name": "a-bcdfg", "uid": "1", "ownerReferences": [{"kind": "Job"}]}, "status": {"containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-08-03T21:00:10Z"}}}]}}`,
		"an image that is waited for": `{"kind": "Event", "reason": "BackOff", "message": "Back-off pulling image", ` + at + `, "involvedObject": {"kind": "Pod", "name": "a-bcdfg", "uid": "1"}}`,
		"another kind":                `{"kind": "Event", "reason": "Killing", ` + at + `, "involvedObject": {"kind": "Node", "name": "a-bcdfg", "uid": "1"}}`,
	} {
		list, notes, err := FromKubernetes([]Document{{"d", strings.NewReader(text + ready)}}, "")
		if err != nil || len(list) != 0 || len(notes) != 0 {
			t.Errorf("%s: %v, %+v, %q", name, err, list, notes)
		}
	}
}

func TestWorkloads(t *testing.T) {
	for name, want := range map[string]string{
		"graph-7c9d5f4b6d-x2k8v": "n/graph", "coredns-6f6b679f8f-5m7kq": "n/coredns",
		"kube-proxy-x7klm": "n/kube-proxy", "my-db-xk2lp": "n/my-db", "db-0": "n/db", "db-12": "n/db",
		"cache": "n/cache", "my-cache": "n/my-cache", "etcd-minikube": "n/etcd-minikube",
	} {
		if got := (&pod{namespace: "n", name: name}).workload(); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "d has neither pods nor events"},
		{"no", "d is not JSON at byte"},
		{`{"kind": "List", "items": [{"kind": "Node"}]}`, "d has neither pods nor events"},
		{`{"kind": "PodList", "items": [{}]}`, "d: items[0].metadata.name: is missing"},
		{`{"kind": "List", "items": [{"kind": "Pod"}, 7]}`, "items[0].metadata.name"},
		{`{"kind": "List", "items": 7}`, "d: Items: expected another kind of value than a number"},
		{`{"kind": "EventList", "items": [{}, {"reason": "Killing", "involvedObject": {"kind": "Pod", "name": "x"}, "firstTimestamp": "noon"}]}`,
			`d: items[1].firstTimestamp: expected a time such as "2026-08-03T21:20:21Z", not "noon"`},
		{`{"kind": "Event", "reason": "Killing", "involvedObject": {"kind": "Pod", "name": "x"}}`, "eventTime: is missing"},
		{`{"kind": "Event", "reason": "Killing", "involvedObject": {"kind": "Pod"}}`, "involvedObject.name: is missing"},
		{`{"kind": "Pod", "metadata": {"name": "x"}, "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "0001-01-01T00:00:00Z"}]}}`,
			"status.conditions[0].lastTransitionTime: expected a time"},
	} {
		_, _, err := FromKubernetes([]Document{{"d", strings.NewReader(c.text)}}, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	if _, _, err := FromKubernetes([]Document{{"d", strings.NewReader(`{"kind": "List", "items": []}`)}}, ""); err != nil {
		t.Errorf("a namespace without pods: %v", err)
	}
}

// Whatever happens to pods, the outages can be written, and each lies between
// things that happened.
func TestAnyStory(t *testing.T) {
	kinds := []string{"Killing", "Scheduled", "Pulled", "Started", "BackOff", "Ready", "NotReady", "Deleted"}
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 25).Draw(r, "marks") {
			fmt.Fprintf(&text, "db-%d %s %d\n", rapid.IntRange(0, 2).Draw(r, "pod"),
				rapid.SampledFrom(kinds).Draw(r, "kind"), rapid.IntRange(0, 3000).Draw(r, "second"))
		}
		list, _ := story(t, text.String())
		for i := range list {
			found++
			ready := fmt.Sprintf(" Ready %d\n", int(list[i].Up.Sub(time.Date(2026, 8, 3, 21, 0, 0, 0, time.UTC)).Seconds()))
			if !strings.Contains(text.String(), ready) {
				r.Fatalf("no%s in %s", ready, text.String())
			}
		}
	})
	if found == 0 {
		t.Error("no story had an outage")
	}
}

// Whatever kubectl prints, or somebody makes of it, leads to an error or to
// outages that can be written.
func FuzzKubernetes(f *testing.F) {
	f.Add(`{"kind":"Event","reason":"Killing","firstTimestamp":"2026-08-03T21:00:10Z","involvedObject":{"kind":"Pod","name":"a-bcdfg","uid":"1"}}
		{"kind":"Pod","metadata":{"name":"a-hjklm","uid":"2"},"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-08-03T21:00:20Z"}]}}`)
	f.Add(`{"kind":"PodList","items":[{"metadata":{"name":"a","deletionTimestamp":"2026-08-03T21:00:10Z","deletionGracePeriodSeconds":3},
		"status":{"containerStatuses":[{"lastState":{"terminated":{"finishedAt":"2026-08-03T21:00:00Z"}},"state":{"running":{"startedAt":"2026-08-03T21:00:01Z"}}}]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, _, err := FromKubernetes([]Document{{"d", strings.NewReader(text)}}, "")
		if err != nil {
			return
		}
		if _, err := outages.Format(list); err != nil {
			t.Fatalf("%v: %q", err, text)
		}
	})
}

package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"outlast/outages"
)

// Document is something that kubectl printed: a list or an object, or several
// of them one after another.
type Document struct {
	Name string // for messages
	From io.Reader
}

// maxDocument bounds a document (a choice: a cluster's events of an hour have
// some megabytes).
const maxDocument = 256 << 20

// object is what is read of a List, a Pod or an Event, of both of its forms:
// v1, and events.k8s.io/v1, whose names for the older fields begin with
// deprecated.
type object struct {
	Kind     string
	Items    []json.RawMessage
	Metadata struct {
		Namespace, Name, UID       string
		DeletionTimestamp          string
		DeletionGracePeriodSeconds int64
		OwnerReferences            []struct{ Kind string }
	}

	Reason                                            string
	Message, Note                                     string
	InvolvedObject, Regarding                         reference
	FirstTimestamp, LastTimestamp                     string
	DeprecatedFirstTimestamp, DeprecatedLastTimestamp string
	EventTime                                         string
	Series                                            struct{ LastObservedTime string }

	Status struct {
		Conditions []struct {
			Type, Status, LastTransitionTime string
		}
		ContainerStatuses []struct {
			State, LastState struct {
				Running, Terminated struct{ StartedAt, FinishedAt string }
			}
		}
	}
}

type reference struct{ Kind, Namespace, Name, UID, FieldPath string }

// podSet has the pods that the documents tell of.
type podSet map[string]*pod

func (s podSet) of(namespace, name, uid string) *pod {
	k := key(namespace, name, uid)
	if s[k] == nil {
		s[k] = &pod{namespace: namespace, name: name}
	}
	return s[k]
}

func (s podSet) read(d Document) error {
	limited := &io.LimitedReader{R: d.From, N: maxDocument + 1}
	decoder := json.NewDecoder(limited)
	found := false
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		switch {
		case limited.N <= 0:
			return fmt.Errorf("%s is longer than the %d bytes that are read", d.Name, maxDocument)
		case errors.Is(err, io.EOF) && found:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s has neither pods nor events; expected what kubectl get pods -o json or kubectl get events -o json prints", d.Name)
		case err != nil:
			return fmt.Errorf("%s is not JSON at byte %d: %w", d.Name, decoder.InputOffset(), err)
		}
		known, err := s.object(raw, "", "")
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		found = found || known
	}
}

// object reads a list, a pod or an event, and says whether it was one. The
// items of a PodList and an EventList do not say what they are.
func (s podSet) object(raw json.RawMessage, path, kind string) (known bool, err error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return false, within(path, err)
	}
	if o.Kind != "" {
		kind = o.Kind
	}
	switch {
	case strings.HasSuffix(kind, "List"):
		known = kind == "PodList" || kind == "EventList"
		for i, item := range o.Items {
			one, err := s.object(item, fmt.Sprintf("%sitems[%d].", path, i), strings.TrimSuffix(kind, "List"))
			if err != nil {
				return false, err
			}
			known = known || one
		}
		return known || kind == "List" && len(o.Items) == 0, nil
	case kind == "Pod":
		return true, s.pod(&o, path)
	case kind == "Event":
		return true, s.event(&o, path)
	}
	return false, nil
}

// within is an error with the place of the object that it is of.
func within(path string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s%s: expected another kind of value than a %s", path, wrong.Field, wrong.Value)
	}
	return fmt.Errorf("%s: %w", strings.TrimSuffix(path, "."), err)
}

// marker adds marks to a pod, and keeps the first error.
type marker struct {
	pod  *pod
	path string
	err  error
}

// add adds a mark, if there is a time.
func (m *marker) add(kind markKind, field, text string, earlier time.Duration) {
	if text == "" {
		return
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	at = at.UTC().Add(-earlier).Truncate(time.Second)
	if err != nil || at.Year() < 1970 || at.Year() > 9000 {
		if m.err == nil {
			m.err = fmt.Errorf("%s%s: expected a time such as \"2026-08-03T21:20:21Z\", not %q", m.path, field, text)
		}
		return
	}
	m.pod.marks = append(m.pod.marks, mark{at, kind})
}

func (s podSet) pod(o *object, path string) error {
	for _, owner := range o.Metadata.OwnerReferences {
		if owner.Kind == "Job" {
			return nil // it ends when it is done, and is no server
		}
	}
	if err := named(o.Metadata.Name, o.Metadata.Namespace, path+"metadata."); err != nil {
		return err
	}
	m := &marker{pod: s.of(o.Metadata.Namespace, o.Metadata.Name, o.Metadata.UID), path: path}
	seconds := o.Metadata.DeletionGracePeriodSeconds
	if seconds < 0 || seconds > int64(outages.MaxDuration/time.Second) {
		return fmt.Errorf("%smetadata.deletionGracePeriodSeconds: expected seconds of at most %v, not %d", path, outages.MaxDuration, seconds)
	}
	// The time of the deletion is when the grace period will be over.
	grace := time.Duration(seconds) * time.Second
	m.add(killed, "metadata.deletionTimestamp", o.Metadata.DeletionTimestamp, grace)
	for i, c := range o.Status.Conditions {
		field := fmt.Sprintf("status.conditions[%d].lastTransitionTime", i)
		switch {
		case c.Type == "PodScheduled" && c.Status == "True":
			m.add(scheduled, field, c.LastTransitionTime, 0)
		case c.Type == "Ready" && c.Status == "True":
			m.add(nowReady, field, c.LastTransitionTime, 0)
		case c.Type == "Ready":
			m.add(unready, field, c.LastTransitionTime, 0)
		}
	}
	for i, c := range o.Status.ContainerStatuses {
		field := fmt.Sprintf("status.containerStatuses[%d].", i)
		m.add(started, field+"state.running.startedAt", c.State.Running.StartedAt, 0)
		m.add(crashed, field+"state.terminated.finishedAt", c.State.Terminated.FinishedAt, 0)
		m.add(started, field+"lastState.terminated.startedAt", c.LastState.Terminated.StartedAt, 0)
		m.add(crashed, field+"lastState.terminated.finishedAt", c.LastState.Terminated.FinishedAt, 0)
	}
	return m.err
}

// maxName is the longest name that Kubernetes gives anything.
const maxName = 253

func named(name, namespace, path string) error {
	if name == "" {
		return fmt.Errorf("%sname: is missing", path)
	}
	if n := max(len(name), len(namespace)); n > maxName {
		return fmt.Errorf("%sname: has %d bytes; Kubernetes allows %d", path, n, maxName)
	}
	return nil
}

// reasons are those of a pod's events that say what happens to it.
var reasons = map[string]markKind{
	"Scheduled":    scheduled,
	"Pulled":       pulled,
	"Started":      started,
	"Killing":      killed,
	"Evicted":      killed,
	"Preempted":    killed,
	"NodeNotReady": unready,
	"BackOff":      crashed,
}

func (s podSet) event(o *object, path string) error {
	about := o.InvolvedObject
	if about == (reference{}) {
		about = o.Regarding
	}
	kind, telling := reasons[o.Reason]
	if about.Kind != "Pod" || !telling {
		return nil
	}
	if o.Reason == "BackOff" && !strings.Contains(o.Message+o.Note, "restarting failed container") {
		return nil // it waits to pull an image
	}
	if strings.HasPrefix(about.FieldPath, "spec.initContainers") {
		return nil // they come and go before the pod can be ready
	}
	if err := named(about.Name, about.Namespace, path+"involvedObject."); err != nil {
		return err
	}
	m := &marker{pod: s.of(about.Namespace, about.Name, about.UID), path: path}
	before := len(m.pod.marks)
	// An event that repeats has the times of the first and the last.
	m.add(kind, "firstTimestamp", o.FirstTimestamp, 0)
	m.add(kind, "lastTimestamp", o.LastTimestamp, 0)
	m.add(kind, "deprecatedFirstTimestamp", o.DeprecatedFirstTimestamp, 0)
	m.add(kind, "deprecatedLastTimestamp", o.DeprecatedLastTimestamp, 0)
	m.add(kind, "eventTime", o.EventTime, 0)
	m.add(kind, "series.lastObservedTime", o.Series.LastObservedTime, 0)
	if m.err == nil && len(m.pod.marks) == before {
		return fmt.Errorf("%seventTime: is missing, as are firstTimestamp and lastTimestamp", path)
	}
	return m.err
}

package metrics

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"outlast/cmd/outlast/internal/wholefile"
	"outlast/internal/telemetry"
)

// Followed is what is counted of a policy that is followed. A zero time is not told.
type Followed struct {
	Policy, Source string
	Serial         int64     // in force
	Since          time.Time // in force
	Expires        time.Time
	Looked         time.Time // when its source was last reached and had nothing that was refused
	Refused        int64     // looks that found what is not taken
	Unreached      int64     // looks that did not reach the source
}

// WriteFollowed replaces a file by what is counted of one policy.
func WriteFollowed(path string, f *Followed) error {
	if !strings.HasSuffix(path, suffix) {
		return fmt.Errorf("--metrics-file: expected a name that ends in %s, which node_exporter reads, not %s", suffix, path)
	}
	target, err := wholefile.Target(path)
	if err != nil {
		return fmt.Errorf("--metrics-file: %w", err)
	}
	return wholefile.Replace(target, []byte(f.text()), mode)
}

func (f *Followed) text() string {
	var b strings.Builder
	for _, m := range []struct {
		name, help, kind string
		value            int64
		told             bool
	}{
		{"serial", telemetry.PolicySerial.Help, "gauge", f.Serial, f.Serial > 0},
		{"since_timestamp_seconds", "Since when it has been in force on this machine, in seconds since 1970.", "gauge", f.Since.Unix(), !f.Since.IsZero()},
		{"expires_timestamp_seconds", telemetry.PolicyExpires.Help, "gauge", f.Expires.Unix(), !f.Expires.IsZero()},
		{"looked_timestamp_seconds", "When its source was last reached, and had nothing that was refused.", "gauge", f.Looked.Unix(), !f.Looked.IsZero()},
		{"refused_total", "Looks at the source that found a policy which is not taken.", "counter", f.Refused, true},
		{"unreached_total", "Looks at the source that did not reach it.", "counter", f.Unreached, true},
	} {
		if m.told {
			name := "outlast_policy_" + m.name
			head(&b, name, m.help, m.kind)
			sample(&b, name, strconv.FormatInt(m.value, 10), "policy", f.Policy, "source", f.Source)
		}
	}
	return b.String()
}

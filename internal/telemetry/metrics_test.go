package telemetry

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// The metrics are those that every host has by abi/telemetry.json, in its words.
func TestNamesAreTheContracts(t *testing.T) {
	text, err := os.ReadFile("../../abi/telemetry.json")
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Metrics []struct {
			Name, Counts  string
			Type          Type
			Labels, Hosts []string
			Buckets       []float64
		}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, want := range said.Metrics {
		if want.Hosts != nil {
			continue
		}
		got := All[n]
		labels := append([]string{"policy", "command"}, got.Labels...)
		if got.Name != want.Name || got.Type != want.Type || got.Help != want.Counts || !slices.Equal(labels, want.Labels) || !slices.Equal(got.Buckets, want.Buckets) {
			t.Errorf("%+v, and not %+v", got, want)
		}
		n++
	}
	if n != len(All) {
		t.Errorf("%d metrics, and not %d", len(All), n)
	}
}

package wrap

import (
	"errors"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/cmd/outlast/internal/library"
	"outlast/host"
)

// The reason why a command is not run again takes the place of the policy's,
// which speaks of output: in the policy's own sentence.
func TestSpentInputsAreTold(t *testing.T) {
	plugin, err := host.Open(host.WithInterpreter())
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(t.Context())
	curl, err := library.Load("curl")
	if err != nil {
		t.Fatal(err)
	}
	code := int64(7)
	call := host.Call{Label: "curl", Remote: true, Read: true, Seed: new(int64)}
	action, err := plugin.Explain(t.Context(), curl, call, abi.Result{ExitCode: &code, Streamed: true})
	if err != nil {
		t.Fatal(err)
	}
	a := attempts{spent: errors.New("it read a question's answer")}
	said := a.explainSpent(action.Outcome).Message
	if !strings.Contains(said, "not tried again, since it read a question's answer") || strings.Contains(said, "output") {
		t.Errorf("the outcome is told as %q", said)
	}
	if action.Outcome.Message == said {
		t.Error("the plugin's own outcome was changed")
	}
}

package kubectl

import (
	"testing"

	"outlast/commands/internal/linetest"
)

// What the installed kubectl looks for is what is known of it.
func TestSettingsAsTheSystemSees(t *testing.T) {
	linetest.Traced{
		Argv:     []string{"kubectl", "-s", "http://127.0.0.1:1", "get", "pods"},
		Harmless: `/\.kube(/(config|\.kubeconfig|kuberc|cache.*))?$`,
	}.Check(t)
}

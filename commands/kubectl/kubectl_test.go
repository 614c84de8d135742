package kubectl

import (
	"testing"

	"outlast/commands/internal/linetest"
)

func TestLines(t *testing.T) {
	linetest.Check(t, Command, map[string]linetest.Sure{
		"kubectl get pods":                            linetest.Reads,
		"kubectl -n x --context=y get pods -o json":   linetest.Reads,
		"kubectl -nx describe pod p":                  linetest.Reads,
		"kubectl --insecure-skip-tls-verify=true get": linetest.Reads,
		"kubectl logs p":                              linetest.Reads,
		"kubectl apply -f x":                          linetest.Unsure,
		"kubectl delete pod get":                      linetest.Unsure,
		"kubectl -n get delete pod":                   linetest.Unsure,
		"kubectl --unknown get pods":                  linetest.Unsure,
		"kubectl exec p -- get":                       linetest.Unsure,
		"kubectl -n":                                  linetest.Unsure,
		"kubectl":                                     linetest.Unsure,
	})
}

// Package kubectl has what is known of kubectl: its policy, and what its line
// tells.
package kubectl

import "outlast/commands/internal/line"

// Command is kubectl.
var Command = line.Command{Parse: parse}

// before has the flags of every command, which may stand before it.
var before = line.Grammar{Equals: true, OptFirst: true,
	Alone: `--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression`,
	WithValue: `-n --namespace -s --server --context --cluster --user --kubeconfig --token --as --as-group --as-uid
	 --cache-dir --certificate-authority --client-certificate --client-key --password --username
	 --request-timeout --tls-server-name -v --v --vmodule --log-flush-frequency`,
}

var reads line.Names = `get describe logs top version api-resources api-versions explain events`

// parse: never Direct. It makes many requests, such as the one that watches
// what it has just deleted, and says the same of whichever cannot connect.
func parse(argv, _ []string) line.Line {
	_, operands, ok := before.Scan(argv[1:])
	return line.Line{Read: ok && len(operands) > 0 && reads.Has(operands[0])}
}

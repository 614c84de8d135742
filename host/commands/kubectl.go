package commands

// kubectlGrammar has the flags of every command, which may stand before it.
var kubectlGrammar = grammar{equals: true, optFirst: true, flags: flags{
	`--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression`,
	`-n --namespace -s --server --context --cluster --user --kubeconfig --token --as --as-group --as-uid
	 --cache-dir --certificate-authority --client-certificate --client-key --password --username
	 --request-timeout --tls-server-name -v --v --vmodule --log-flush-frequency`}}

var kubectlReads names = `get describe logs top version api-resources api-versions explain events`

// kubectl: never Direct. It makes many requests, such as the one that watches
// what it has just deleted, and says the same of whichever cannot connect.
func kubectl(args []string) Line {
	_, operands, ok := kubectlGrammar.scan(args)
	return Line{Read: ok && len(operands) > 0 && kubectlReads.has(operands[0])}
}

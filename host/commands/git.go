package commands

import "strings"

// gitGrammar has what may stand before git's command; -c could set anything.
var gitGrammar = grammar{equals: true, optFirst: true, flags: flags{
	`--no-pager --bare --no-replace-objects --literal-pathspecs --no-optional-locks`, `-C --git-dir --work-tree --namespace`}}

// gitRead is the options of a command that only reads from its server, nil for
// another. --upload-pack and -c name programs, which could do anything.
func gitRead(command string) *grammar {
	switch command {
	case "ls-remote":
		return &grammar{equals: true, flags: flags{
			`-q --quiet -h --heads -t --tags --branches --refs --symref --exit-code --get-url`, `--sort`}}
	case "fetch":
		return &grammar{equals: true, flags: flags{
			`-q --quiet -v --verbose --progress --no-progress -4 --ipv4 -6 --ipv6 --all -a --append --atomic -f --force
			 -k --keep -p --prune -P --prune-tags -n --no-tags -t --tags --unshallow --update-shallow
			 --no-recurse-submodules --porcelain --dry-run --no-auto-gc --no-auto-maintenance --refetch`,
			`--depth --deepen --shallow-since --shallow-exclude --refmap -j --jobs --filter`}}
	case "clone":
		return &grammar{equals: true, flags: flags{
			`-q --quiet -v --verbose --progress --no-progress -4 --ipv4 -6 --ipv6 --bare --mirror -n --no-checkout
			 --single-branch --no-single-branch --no-tags --sparse --no-shallow-submodules`,
			`-b --branch -o --origin --depth --shallow-since --shallow-exclude -j --jobs --filter`}}
	}
	return nil
}

// git: never Direct. A push may have several destinations and goes through hooks
// that print what they like; over ssh, so does the other side.
func git(program string, args, env []string) Line {
	_, operands, ok := gitGrammar.scan(args)
	if !ok || len(operands) == 0 {
		return Line{}
	}
	command := gitRead(operands[0])
	if command == nil {
		return Line{}
	}
	global := args[:len(args)-len(operands)]
	_, operands, ok = command.scan(operands[1:])
	// transport::address runs a helper, which may be any program.
	return Line{Read: ok && !strings.Contains(strings.Join(operands, " "), "::") && !gitRunsMore(program, global, env)}
}

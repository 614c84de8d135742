package main

const (
	omnigraph = "builtin/omnigraph.json"
	witanCore = "builtin/witan-core.json"
	network   = "builtin/network.json"
)

// mutants are the changes that the tests must find out.
var mutants = []mutant{
	// The default policy's numbers.
	replace(omnigraph, `"max_wait": "150s"`, `"max_wait": "42.5s"`, "gives up in the middle of a measured restart"),
	replace(omnigraph, `"windows": 3,`, `"windows": 4,`, "one outage more in a call"),
	replace(omnigraph, `"broken_connections": 2,`, `"broken_connections": 3,`, "a read that kills the server runs once more"),
	replace(omnigraph, `"base": "500ms", "multiplier": 2, "cap": "10s"`, `"base": "500ms", "multiplier": 2, "cap": "5s"`, "the old cap"),
	replace(omnigraph, `"cap": "10s", "jitter": 0.1}`, `"cap": "10s", "jitter": 0}`, "all callers come back at once"),
	replace(omnigraph, `"cap": "10s", "jitter": 0.1}`, `"cap": "10s", "jitter": 0.1, "jitter_at_cap": "cut"}`, "no jitter is left at the cap"),
	replace(omnigraph, `"reads": "accepting", "writes": "ready"`, `"reads": "ready", "writes": "ready"`, "reads wait for a health check"),
	replace(omnigraph, `"max": "120s", `, ``, "any Retry-After is slept through"),
	replace(omnigraph, `"attempts": 8,`, `"attempts": 9,`, "one conflict more"),
	replace(omnigraph, `"type": "full_jitter", "base": "100ms"`, `"type": "exponential", "base": "100ms"`, "losers of a race run in step"),
	replace(witanCore, `"call_budget": "stop_at"`, `"call_budget": "stop_above"`, "not witan-core's at a tie"),
	replace(witanCore, `"jitter_at_cap": "cut"},
      "call_budget": "ignore"
    },
    "admission_cap"`, `"jitter_at_cap": "cut"},
      "call_budget": "clamp"
    },
    "admission_cap"`, "witan-core does not know the call's budget here"),

	// What the default policy recognises.
	replace(omnigraph, `"in": "cause", "at": 1, "is": ["client error (Connect)"]},
            {
              "in": "cause",
              "at": 2,`, `"in": "cause", "at": 1, "starts": ["client error ("]},
            {
              "in": "cause",
              "at": 2,`, "what is no connect failure is taken for one"),
	replace(omnigraph, `"is": ["tcp connect error", "dns error"],`, `"any": ["tcp connect error", "dns error"],`, "a longer cause is believed"),
	replace(omnigraph, `"is": ["tcp connect error", "dns error"],`, `"is": ["tcp connect error"],`, "names that do not resolve during a restart"),
	replace(omnigraph, `              "starts": ["tunnel error: unsuccessful"]
`, `              "starts": ["tunnel error: "]
`, "a proxy that wants a password is waited for"),
	replace(omnigraph, `{"in": "cause", "at": 0, "starts": ["error sending request for url ("]},
            {"in": "cause", "at": 1, "is": ["client error (Connect)"]},
            {
              "in": "cause",
              "at": 2,`, `{"in": "cause", "at": 1, "is": ["client error (Connect)"]},
            {
              "in": "cause",
              "at": 2,`, "cause 0 may be anything"),
	replace(omnigraph, `          "sent": ["no", "unknown"],
          "http_statuses": [0],`, `          "http_statuses": [0],`, "a request that was dispatched runs again"),
	replace(omnigraph, `          "http_statuses": [0],
          "text": [{"in": "message", "starts": ["server discovery`, `          "text": [{"in": "message", "starts": ["server discovery`, "a server's own words pass for a failed discovery"),
	replace(omnigraph, `          "write": false,
          "http_statuses": [0, 503],
          "codes": ["none", "graph_unavailable", "service_unavailable"],
          "text": [
            {
              "in": "message",
              "starts": [`, `          "write": false,
          "http_statuses": [0, 503],
          "codes": ["none", "graph_unavailable", "service_unavailable"],
          "text": [
            {
              "in": "message",
              "any": [`, "a marker in the middle of a message counts"),
	replace(omnigraph, `            },
            {"in": "anywhere", "none": ["Location:"]}`, `            }`, "a release that never loads is believed to"),
	replace(omnigraph, `            {"in": "anywhere", "none": ["Location:"]}
          ]
        },
        {"transport": "http", "text": [{"in": "message", "starts": ["precondition`, `            {"in": "anywhere", "none": ["nothing"]}
          ]
        },
        {"transport": "http", "text": [{"in": "message", "starts": ["precondition`, "a precondition that 0.10 would end with 4 for"),
	replace(omnigraph, `          "codes": ["conflict"],
          "details": false,
          "text": [{"in": "message", "starts": ["retryable`, `          "codes": ["conflict"],
          "text": [{"in": "message", "starts": ["retryable`, "a lost race with more to it runs again"),
	replace(omnigraph, `"starts": ["write authority '", "stale view"]},
            {"in": "message", "any": ["changed during preparation", "refresh and retry"]},
            {"in": "anywhere", "none": ["Error:"]}`, `"starts": ["write authority '", "stale view"]},
            {"in": "message", "any": ["changed during preparation", "refresh and retry"]}`, "a read loses a race"),
	replace(omnigraph, `"is": ["server returned 404 Not Found: "]}]
        },`, `"starts": ["server returned 404 Not Found: "]}]
        },`, "any page that is not found is the server's"),
	replace("view_account.go", "v.details = v.details || detailed\n", "_ = detailed\n", "a refusal with details that people are not shown is a plain one"),
	replace(omnigraph, `{"in": "message", "starts": ["server discovery connection failed (", "server discovery timed out"]}`, `{"in": "message", "starts": ["server discovery connection failed ("]}`, "a discovery that timed out is given up"),
	replace(omnigraph, `          "codes": ["graph_unavailable"],
          "details": false,
          "text": [
            {
              "in": "message",
              "is": [
                "graph is loading`, `          "details": false,
          "text": [
            {
              "in": "message",
              "is": [
                "graph is loading`, "a 503 without its code has a write repeated"),
	replace(omnigraph, `          "codes": ["service_unavailable"],
          "details": false,`, `          "codes": ["service_unavailable"],`, "a refusal with a detail has a write repeated"),
	replace(omnigraph, `"jitter": 0.1, "floor": "backoff"}`, `"jitter": 0.1}`, "a Retry-After of 0 means at once"),
	replace("evidence.go", "v.effects == \"\" && v.whole", "v.effects == \"\" && v.form == FormReport", "a report that may be cut is evidence"),
	replace("view_account.go", "len(outcome.Names) != 3 || ", "", "an outcome with unknown members is an account"),
	replace("view_account.go", "v.accounts = code == exitFailed && (", "v.accounts = true || (", "an outcome in unknown words is an account"),
	replace("view_account.go", `action == "retry" && code == exitCapped ||`, `action == "retry" ||`, "an outcome that the exit code contradicts is believed"),
	replace(omnigraph, `[{"exit_codes": [101]}, {"signals": ["any"]}]`, `[{"exit_codes": [101]}]`, "a write that was killed is called a failure"),
	replace(omnigraph, `{"exit_codes": [75]},
`, ``, "the cap's own exit code"),
	replace(omnigraph, `"actor byte budget exceeded",`, ``, "the cap on bytes"),
	replace(omnigraph, `"is": ["connection closed before message completed", "connection error", "error writing a body to connection"]`, `"is": ["connection closed before message completed", "error writing a body to connection"]`, "a reset connection"),
	replace(omnigraph, `{"http_statuses": [502, 503, 504]},`, `{"http_statuses": [502, 503]},`, "a gateway's timeout"),
	replace(omnigraph, `        {
          "cause_count": 1,
          "text": [
            {
              "in": "cause",
              "at": 0,
              "starts": [
                "expected value at line",
                "EOF while parsing",`, `        {
          "cause_count": 1,
          "text": [
            {
              "in": "cause",
              "at": 0,
              "starts": [
                "expected value at line",`, "an empty answer"),
	replace(omnigraph, `          "form": "report",
          "write": false,
          "cause_count": 1,`, `          "form": "report",
          "cause_count": 1,`, "a server that says what 0.13 says without one is believed"),
	replace(omnigraph, `          "cause_count": 1,
          "text": [
            {
              "in": "cause",`, `          "text": [
            {
              "in": "cause",`, "an error in a local file passes for an answer"),
	replace(omnigraph, `{"transport": "http", "text": [{"in": "message", "starts": ["precondition failed on branch '", "precondition_failure"]}]}`, `{"transport": "http", "text": [{"in": "message", "starts": ["precondition failed on branch '"]}]}`, "a stated precondition is retried as a conflict"),
	replace(omnigraph, `"starts": ["dataset for node type '", "table '"], "all": ["ahead of ", "run `+"`omnigraph repair`"+`"]`, `"any": ["omnigraph repair"]`, "any mention of repair repairs"),

	// What it then does.
	replace(omnigraph, `"if": {"write": true, "remote": false},`, `"if": {"remote": false},`, "a read repairs"),
	replace(omnigraph, `"repair": {"times": "once", "on_failure": "stop"},`, `"repair": {"times": "each", "on_failure": "stop"},`, "repairs without end"),
	replace(omnigraph, `"repair": {"times": "once", "on_failure": "stop"},`, `"repair": {"times": "once", "on_failure": "continue"},`, "a failed repair is ignored"),
	replace(omnigraph, `"when": [{"timed_out": true}],
      "then": [
        {"if": {"write": false, "remote"`, `"when": [{"timed_out": true}],
      "then": [
        {"if": {"remote"`, "a write that was ended at its time limit runs again"),
	replace(omnigraph, `"kind": "timed_out",
`, `"kind": "timed_out",
      "server": "broken",
`, "a time limit counts as a broken connection"),
	replace(omnigraph, `      "kind": "conflict",
      "server": "answered",
      "when": [
        {
          "write": true,
          "http_statuses": [0, 409],`, `      "kind": "conflict",
      "when": [
        {
          "write": true,
          "http_statuses": [0, 409],`, "a conflict does not end the outage"),
	replace(omnigraph, `          "if": {"write": true},
`, `          "if": {"write": false},
`, "a write that may be part of a recovery runs again"),
	move(omnigraph, "admission_cap", "interrupted", "a broken connection that comes with the cap's exit code runs again"),
	move(omnigraph, "conflict 3", "precondition_failed", "a write that must not be repeated is"),
	move(omnigraph, "admission_cap", "crashed", "a crash that quotes the cap is retried"),
	move(omnigraph, "admission_cap", "recovery_required", "a pending recovery that comes with a 429 is retried"),
	move(omnigraph, "crashed", "timed_out", "a time limit is called a crash"),
	move(omnigraph, "interrupted 2", "graph_blocked", "a blocked graph is waited for"),
	move(omnigraph, "failed 2", "interrupted 2", "a proxy's word that nothing happened is believed"),
	move(omnigraph, "crashed", "cancelled", "the user's interrupt is called a crash"),
	move(witanCore, "conflict", "needs_repair", "not witan-core's order"),
	move(witanCore, "unavailable", "contract_violation", "not witan-core's order"),

	// The windows.
	replace("retry.go", "s.time >= budget.MaxWait", "s.time > budget.MaxWait", "one attempt more at the deadline"),
	replace("retry.go", "delay = min(delay, budget.MaxWait-s.time)", "delay = min(delay, budget.MaxWait)", "the last sleep passes the deadline"),
	replace("retry.go", "*s = spent{open: 1, opened: s.opened + 1, count: s.count, vain: s.vain}", "*s = spent{open: 1, opened: s.opened + 1, count: s.count, vain: s.vain, time: d.elapsed}", "the window runs from the call's start"),
	replace("retry.go", "s.opened >= budget.Windows", "s.opened > budget.Windows", "one window more"),
	replace("decide.go", "budget.Windows > 0 {", "budget.Windows < 0 {", "contact does not end the outage"),
	replace("decide.go", "*s = spent{opened: s.opened, count: s.count, vain: d.keptVain(i, c)}", "s.open, s.opened = 0, 0", "windows are not counted"),
	replace("decide.go", "limit >= 0 && d.broken > limit", "limit >= 0 && d.broken >= limit", "a broken connection fewer"),
	replace("decide.go", "\tif c == Broken {\n\t\td.broken++\n\t}\n", "\td.broken++\n", "each answer counts as a broken connection"),
	replace("decide.go", "d.attempts >= abi.MaxAttempts", "d.attempts > abi.MaxAttempts", "more than 10,000 attempts"),

	// The schedule.
	replace("retry.go", "\ts.step++\n\tif b.Attempts", "\ts.step = d.attempts\n\tif b.Attempts", "the exponent grows with every kind's failures"),
	replace("retry.go", "d.backoff(&b.Backoff, s.step)", "d.backoff(&b.Backoff, d.attempts)", "the exponent grows with every kind's failures"),
	replace("decide.go", "\td.remember(rule.kind)\n\td.contact(rule.Server)\n", "\tif int64(rule.kind) != d.kind {\n\t\tclear(d.budgets)\n\t}\n\td.remember(rule.kind)\n\td.contact(rule.Server)\n", "counters start over when the kind changes"),
	replace("backoff.go", "hi := min(d+fractionOf(d, b.Jitter), b.Cap)", "hi := d + fractionOf(d, b.Jitter)", "jitter passes the cap"),
	replace("backoff.go", "case b.CutAtCap:", "case !b.CutAtCap:", "the cap cuts jitter off"),
	replace("backoff.go", "mulDiv(hi, b.Jitter, million+b.Jitter)", "mulDiv(hi, b.Jitter, million)", "a delay below its lower bound"),
	replace("backoff.go", "i < n && d < b.Cap", "i <= n && d < b.Cap", "the first delay is twice the base"),
	replace("backoff.go", "return scale(min(d, b.Cap), u)", "return scale(b.Cap, u)", "full jitter of the cap"),
	replace("backoff.go", "n > b.Cap/b.Base", "n >= b.Cap/b.Base", "a linear delay jumps to the cap"),
	replace("random.go", "z ^ z>>27", "z ^ z>>28", "not SplitMix64"),
	replace("random.go", "s.draws++", "s.draws += 0", "each delay has the same jitter"),

	// The clock.
	replace("state.go", "passed = max(nowUS-s.last, atLeast, 0)", "passed = nowUS - s.last", "a clock that goes back lengthens the budget"),
	replace("state.go", "passed = max(nowUS-s.last, atLeast, 0)", "passed = max(nowUS-s.last, 0)", "a clock that stands still spends nothing"),
	replace("state.go", "s.last = nowUS", "s.last = max(s.last, nowUS)", "a clock that went back stands still for as long"),
	replace("decide.go", "case call.StartedUS != nil:", "case call.StartedUS == nil && e.Result == nil:", "the wait for a lock does not count"),

	// The call's own budget.
	replace("retry.go", "if budget.CallBudget == CallClamp && d.callLeft() <= 0 {", "if budget.CallBudget == CallClamp && d.callLeft() < 0 {", "one attempt more, and the tie goes to the window"),
	replace("retry.go", "budget.CallBudget == CallStopAbove && delay > left", "budget.CallBudget == CallStopAbove && delay >= left", "stops where witan-core goes on"),
	replace("retry.go", ">= left:", "> left:", "goes on where witan-core stops"),
	replace("retry.go", "delay = min(delay, left) // stop_above", "delay = max(delay, 0) // stop_above", "a sleep passes the call's end"),
	replace("retry.go", "s.count >= budget.Attempts:\n\t\treason", "s.count > budget.Attempts:\n\t\treason", "an attempt more"),

	// Retry-After.
	replace("retry.go", "asked > r.Max }", "asked > 1<<60 }", "the bound is ignored"),
	replace("retry.go", "hint != nil && *hint >= 0 &&", "hint != nil &&", "a negative one is obeyed"),
	replace("retry.go", "return sum(hint, scale(fractionOf(hint, r.Jitter), u))", "return sum(hint, -scale(fractionOf(hint, r.Jitter), u))", "comes earlier than asked"),

	// Wakes.
	replace("retry.go", "\tif call.Write {\n\t\treturn w.Writes\n\t}\n", "", "a write is woken by a mere connection"),
	replace("retry.go", "is == abi.Ready || is == need", "is != \"\"", "a write is woken by a mere connection"),
	replace("retry.go", "left > 0 {\n\t\t\treturn left, nil, nil\n\t\t}", "left > 0 {\n\t\t\ts.step++\n\t\t\treturn left, nil, nil\n\t\t}", "a vain wake advances the schedule"),
	replace("retry.go", "room := max(0, budget.MaxWait-s.time)", "room := int64(1 << 52)", "a woken attempt starts past the deadline"),
	replace("retry.go", "room), u), left))", "room), u), room))", "what the spread has grown by delays an attempt past the schedule"),
	replace("budget.go", "return grows.plain(vain + 1)", "return grows.plain(1)", "a server that falls over is met by all again"),
	replace("budget.go", "vain = max(vain, 1)", "vain++", "a late window spreads wider with each vain wake than an early one"),
	replace("decide.go", "return min(d.budgets[i].vain+1, wake.MaxVain-1)", "return 0", "a broken wake is forgotten"),
	replace("decide.go", "return min(d.budgets[i].vain+1, wake.MaxVain-1)", "return d.budgets[i].vain + 1", "broken wakes take the next window's wakes away"),
	replace("retry.go", "\t\ts.vain++\n", "", "a flapping probe wakes for ever"),
	replace("retry.go", "1<<min(vain-1, 32)", "1", "the hold-off does not grow"),
	replace("retry.go", "d.wakeAfter = held\n", "d.wakeAfter = 0\n", "an ignored wake ends the hold-off"),
	replace("retry.go", "|| min(left, room) <= 0 ||", "|| room <= 0 ||", "the deadline has no attempt while the server is down"),
	replace("retry.go", "|| min(left, room) <= 0 ||", "|| left <= 0 ||", "a graph that is ready waits for ever for one that loads"),
	replace("retry.go", "withheld = sum(d.withheld, d.passed)", "withheld = d.passed", "only the last wait counts of what has been left out"),
	replace("retry.go", "withheld = sum(d.withheld, d.passed)\n", "withheld = sum(d.withheld, d.passed)\n\t\ts.step = 0\n", "the schedule begins anew while the server loads"),
	replace("retry.go", "\taction := d.waitOn(i, min(delay, left), held)\n\td.withheld = withheld\n", "\taction := d.waitOn(i, min(delay, left), held)\n", "what has been left out is forgotten"),
	replace("retry.go", "if d.event.Type == abi.NotReady {", "if d.event.Type != abi.Woken {", "a server that is down is attempted each cap"),
	replace("retry.go", "return d.next(i, 0), nil // the schedule ends", "return d.waitOn(i, left, held), nil // the schedule ends", "a call that stops before its end has no last attempt"),
	replace("retry.go", "\ts.step++\n\tdelay, _, err", "\tdelay, _, err", "the schedule stands still while the server is down"),
	replace("retry.go", "min(delay, left), held", "delay, held", "the schedule goes past its deadline while the server is down"),
	replace("retry.go", "w != nil && s.vain < w.MaxVain && ", "w != nil && ", "a probe that was wrong three times is believed"),
	replace("retry.go", "|| s.step >= abi.MaxAttempts", "", "a host that is always down outgrows the state"),
	replace("retry.go", "held, left := max(0, d.wakeAfter-d.passed),", "held, left := int64(0),", "an attempt that is left out ends the hold-off"),
	replace("retry.go", "if budget.CallBudget != CallIgnore {\n\t\tleft =", "if budget.CallBudget == CallIgnore {\n\t\tleft =", "a wait for a server that is down passes the call's end"),
	replace("decide.go", "there is no wait that could be over\")\n\t\t}\n\t\tatLeast = s.pending\n", "there is no wait that could be over\")\n\t\t}\n", "an early timer buys time while the server is down"),

	// Repairs.
	replace("retry.go", "action.Repair, action.RepairForce = true, b.Repair.Force", "action.Repair, action.RepairForce = false, b.Repair.Force", "never repairs"),
	replace("decide.go", "branch := rule.branch(d.chosen, d.repaired > 0)", "branch := rule.branch(d.chosen, false)", "repairs each time"),
	replace("decide.go", "d.phase == repairing && !d.event.Result.OK()", "d.phase == mending && !d.event.Result.OK()", "goes on after a failed repair"),
	replace("decide.go", "return d.event.Result != nil && d.phase < repairing", "return d.event.Result != nil", "a repair that was done passes for the write"),

	// Outcomes.
	replace("outcome.go", "o.Type = abi.OutcomeIndeterminate", "_ = o", "an indeterminate write is called a failure"),
	replace("outcome.go", "if d.doubt && o.Type != abi.OutcomeOK {", "if d.doubt {", "a write that succeeded is in doubt"),
	replace("decide.go", "\tif !d.call.Write {\n\t\treturn\n\t}\n", "", "a read has effects"),
	replace("decide.go", "\t\td.weigh(rule.branch(d.chosen, d.repaired > 0), condition)\n", "\t\t_ = condition\n", "a cancelled write is said to have had no effect"),

	// What a call says of itself.
	replace("decide.go", "read.Write = false", "read.Write = true", "a repeatable write is not repeated"),
	replace("decide.go", "\tif d.call.Repeatable {\n\t\tvar rule *Rule\n", "\tif false {\n\t\tvar rule *Rule\n", "a repeatable write has a read's effects: none"),
	replace("decide.go", "\tcase d.doubt && !d.call.Repeatable:", "\tcase false:", "a script is run again on what its last command printed"),
	replace("decide.go", "(d.event.Result.Sent != abi.SentNo || d.view.sent != abi.SentNo)", "d.view.sent != abi.SentNo", "a script is run again on what its last command says of its request"),
	replace("decide.go", "(d.event.Result.Sent != abi.SentNo || d.view.sent != abi.SentNo)", "true", "a write of which nothing was sent does not wait"),
	replace("state.go", "\tif s.doubt {\n", "\tif false {\n", "doubt is forgotten by the next attempt"),
	replace("decide.go", "case d.event.Result.Streamed:", "case false:", "output is shown twice"),

	// Reading what was printed.
	replace("report.go", "last = i\n\t\t\t}", "return i\n\t\t\t}", "the first Error: line counts"),
	replace("report.go", `strings.Trim(line, " ") == ""`, `len(line) >= 0`, "a line that goes on counts as the title"),
	replace("report.go", "case len(r.causes) > 0 && strings.HasPrefix(line, \"      \"):\n\t\t\tr.causes[len(r.causes)-1] += \"\\n\" + line", "case len(r.causes) > 0 && strings.HasPrefix(line, \"      \"):\n\t\t\tif i := strings.Index(line, \": \"); i > 0 {\n\t\t\t\tr.causes = append(r.causes, line[i+2:])\n\t\t\t}", "a server's lines pass for causes"),
	replace("view_report.go", "|| r.open && !v.account", "", "a report that is cut counts"),
	replace("report.go", "if i == 0 || part[i-1] == '\\n' {", "if i >= 0 {", "an Error: in a line counts"),
	replace("report.go", "return line[width+2:], line[:width] == string(number)", "return line[width+2:], true", "the numbers of causes do not matter"),
	replace("report.go", "if last := len(out) - 1; s[i] == '\\n' && last >= 0", "if last := len(out) - 1; s[i] == '\\n' && last > 1<<30", "a terminal's line ends"),
	replace("report.go", "b[i] = c + 'a' - 'A'", "b[i] = c", "case matters"),
	replace("view_report.go", "r.causes = nil // the last report", "// the last report", "a quoted report in the head counts"),
	replace("view.go", "if ended || !v.report(parts) {", "if ended && len(parts) < 0 || !v.report(parts) {", "a message that quotes a report passes for one"),
	replace("view.go", "\tcase yes:\n\t\tv.sent = abi.SentYes\n\tcase no:\n\t\tv.sent = abi.SentNo\n", "\tcase no:\n\t\tv.sent = abi.SentNo\n\tcase yes:\n\t\tv.sent = abi.SentYes\n", "the less careful word wins"),
	replace("view.go", "yes := v.result.Sent == abi.SentYes ||", "yes :=", "what the host knows is ignored"),
	replace("view_object.go", "if effects := m.Value(\"effects\"); effects.Kind == strictjson.String {", "if effects := m.Value(\"outcome\"); effects.Kind == strictjson.String {", "what the program says of effects is ignored"),
	replace("view.go", "if v.result.Stdout.Cut {\n\t\treturn said{}\n\t}", "", "half of a command's data is read"),
	replace("classify.go", "if texts[0] == m.lower {", "if strings.HasPrefix(texts[0], m.lower) {", "a whole cause matches its start"),
	replace("classify.go", "if strings.HasPrefix(texts[0], m.lower) {", "if strings.Contains(texts[0], m.lower) {", "the start of a message is anywhere in it"),

	// What was seen of a request.
	replace(network, `  "account": "host",
`, ``, "a server's text counts as evidence"),
	replace(network, `{"failures": ["unresolved", "unconnected"], "sent": ["no"]}`, `{"failures": ["unresolved", "unconnected"]}`, "what else the attempt did is not asked"),
	replace(network, `{"failures": ["broke"], "sent": ["no"]}`, `{"failures": ["broke"]}`, "a broken connection is no reason for doubt"),
	replace(network, `{"timed_out": true, "sent": ["no"]}`, `{"timed_out": true}`, "a write that may be under way is repeated"),
	replace(network, `428, 431],
          "only_request": true`, `428, 431]`, "one of several requests was refused"),
	replace(network, `"http_statuses": [429], "only_request": true}`, `"http_statuses": [429]}`, "one of several requests found the server busy"),
	replace(network, `{"if": {"refuses_before_acting": true}, "retry": "busy"}`, `{"retry": "busy"}`, "nobody said that it refuses before acting"),
	replace(network, `"attempts": 200,`, `"attempts": 20,`, "a pool of dead connections fails a read"),
	replace(network, `"cap": "16ms"`, `"cap": "160ms"`, "dead connections take long"),
	replace("view.go", "f, v.status = said{}, status", "_ = status", "a document's account: host does nothing"),
	replace("classify.go", "c.Only && !r.OnlyRequest,", "", "only_request is not asked"),
	replace("classify.go", "agrees(i.RefusesBeforeActing, call.RefusesBeforeActing)", "true", "refuses_before_acting is not asked"),

	// The state.
	replace("state.go", "case digest != doc.Digest:", "case digest == \"\":", "another policy's state is taken"),
	replace("state.go", "case sum != number(checksum(body[:len(body)-1])):", "case body == \"\" && sum == \"\":", "a damaged state is taken"),
	replace("state.go", "ok = ok && whole && *n >= low && *n <= high", "ok = ok && whole && low <= high", "a state out of bounds is taken"),
	replace("state.go", "visit(&b.opened, 0, abi.MaxAttempts)\n", "", "the windows of a call are forgotten"),

	// Documents.
	replace("backoff.go", "if b.Base > b.Cap && b.Cap > 0 {", "if b.Base > b.Cap && b.Cap < 0 {", "a base above the cap is accepted"),
	replace("forms.go", "readFraction(r, (*int64)(f), million, maxFactor*million)", "readFraction(r, (*int64)(f), 0, maxFactor*million)", "a multiplier below 1 is accepted"),
	replace("budget.go", `if c.Has("max_wait") == c.Has("attempts") {`, `if c.Has("max_wait") && c.Has("attempts") {`, "a budget without a limit is accepted"),
	replace("forms.go", "if !ok || micros == 0 {", "if !ok {", "a window of 0 is accepted"),
	replace("duration.go", "if end <= 0 {", "if end < 0 {\n\t\t\tend = len(rest)\n\t\t}\n\t\tif end == len(rest) {\n\t\t\trest += \"s\"\n\t\t}\n\t\tif end == 0 {", "a number without a unit is accepted"),
	replace("document.go", "len(d.Rules[last].When) > 0", "len(d.Rules[last].When) > 1", "a document without a last rule is accepted"),
}

"""Records what witan-core 0.45.0 makes of failures, for witan_test.go.

    PYTHONPATH=<where witan-core 0.45.0 is> python3 record_witan_core.py

It writes witan_core_verdicts.jsonl, the kinds of texts in which markers are
mixed, and witan_core_loops.jsonl, whole calls on a virtual clock: when each
attempt ended, which random number it brought, what it slept, and how it ended.
"""

import itertools
import json
import random
from types import SimpleNamespace

import witan_core.omnigraph as client
import witan_core.omnigraph_http as http

KINDS = {
    http.OK: "ok",
    http.UNAVAILABLE: "unavailable",
    http.ADMISSION_CAP: "admission_cap",
    http.RETRYABLE: "conflict",
    http.NEEDS_REPAIR: "needs_repair",
    http.FATAL: "failed",
    http.PRECONDITION_FAILED: "precondition_failed",
    http.FULL_TEXT_REBUILD_REQUIRED: "full_text_rebuild_required",
    http.RECOVERY_REQUIRED: "recovery_required",
    http.STORE_QUARANTINED: "store_quarantined",
    http.CONTRACT_VIOLATION: "contract_violation",
}

MARKERS = [
    "this request's effects are unknown",
    "response did not carry exactly one Omnigraph-Http-Api: 0.13 header",
    "tcp connect error",
    "dns error",
    "server discovery connection failed",
    "server discovery timed out",
    "graph is unavailable; an operator must apply a correction",
    "graph is loading",
    "graph admission is closed for a serving transition",
    "actor in-flight count cap 1 exceeded",
    "actor byte budget exceeded",
    "too_many_requests",
    "precondition_failure",
    "precondition failed",
    "OCC recovery sidecar '01'",
    "manifest delta differs",
    "OCC recovery sidecar '01' found, but its manifest delta differs",
    "recovery required for operation 01",
    "recovery_required",
    "rebuild-full-text-indexes",
    "full_text_index_rebuild_required",
    "ahead of manifest version 7",
    "ahead of published dataset version 7",
    "run `omnigraph repair` before writing",
    "stale view of 'node:Doc'",
    "expected manifest table version 6",
    "expected published dataset version 6",
    "published dataset version 7 was reclaimed",
    "refresh and retry",
    "write authority 'graph_head:main' changed",
    "reprepare from the current branch state",
    "__manifest is stamped at internal schema v4",
    "but this omnigraph reads only v6",
    "stamped at internal schema v4, but this omnigraph reads only v6",
    "could not connect to http://h:8080: refused",
    "request to http://h:8080/graphs/g/query failed: reset",
    "connection closed before message completed",
    "something else",
]
STATUSES = [200, 400, 401, 404, 409, 412, 413, 429, 500, 502, 503, 504]


def of_cli(stdout, stderr, code):
    failure = client._cli_failure(stdout, stderr)
    kind = KINDS[client._classify_cli_error(failure.classify, code)]
    return kind, failure.message


def of_http(status, text, write):
    if text.lower().startswith("response did not carry exactly one"):
        return "contract_violation"
    if status is not None:
        return KINDS[http.classify_status(status, text)]
    if text.startswith("could not connect to "):
        return "unavailable"
    if text.startswith("request to ") and " failed: " in text:
        return "failed" if write else "unavailable"
    return None  # the transport gives no such text


def shout(rng, text, cli):
    at = rng.randrange(len(text))
    coloured = rng.choice(["\x1b[91m" + text + "\x1b[0m", text[:at] + "\x1b[0m" + text[at:]])
    return rng.choice([text, text, text, text.upper(), text.title(), coloured if cli else text])


def mixtures(rng, count):
    """Two markers of different kinds in both orders, and any number of any."""
    for cli in [True, False]:
        for pair in itertools.permutations(FAILURES.values(), 2):
            yield cli, list(pair)
    for _ in range(count):
        cli = rng.random() < 0.5
        yield cli, [shout(rng, m, cli) for m in rng.sample(MARKERS, rng.choice([1, 1, 2, 2, 3, 4]))]


def verdicts(rng, count):
    for cli, words in mixtures(rng, count):
        text = rng.choice(["; ", "\n", ": "]).join(words)
        write = rng.random() < 0.5
        case = {"text": text, "write": write}
        if cli:
            code = rng.choice([1, 1, 1, 2, 4, 75, 101, -9])
            stream = rng.choice(["stderr", "stderr", "stdout"])
            stdout, stderr = "", text
            if stream == "stdout":
                body = {"error": text}
                if rng.random() < 0.5:
                    body = {"error": words[0], "code": words[-1]}
                case["text"] = stdout = json.dumps(body, ensure_ascii=rng.random() < 0.5)
                case["stderr"] = stderr = rng.choice(["", "", " \n", "\x1c\u0085", "x"])
            kind, message = of_cli(stdout, stderr, code)
            case |= {"transport": "cli", "stream": stream, "exit": code}
        else:
            status = rng.choice([None, *STATUSES])
            kind, message = of_http(status, text, write), text
            case |= {"transport": "http", "stream": "message", "status": status}
            if kind is None:
                continue
        if client._is_storage_version_mismatch(message):
            kind = "storage_mismatch"
        yield case | {"kind": kind}


# One text for each kind, as the command line tool prints them.
FAILURES = {
    "unavailable": "tcp connect error",
    "admission_cap": "actor in-flight count cap 1 exceeded",
    "recovery_required": "recovery required for operation 01",
    "needs_repair": "run `omnigraph repair` before writing",
    "conflict": "stale view; refresh and retry",
    "failed": "something else",
    "precondition_failed": "precondition failed on branch 'main'",
    "store_quarantined": "OCC recovery sidecar '01': its manifest delta differs",
    "contract_violation": "this request's effects are unknown",
    "full_text_rebuild_required": "run omnigraph rebuild-full-text-indexes",
    "storage_mismatch": "stamped at internal schema v4, but this omnigraph reads only v6",
}
OFTEN = ["unavailable"] * 6 + ["admission_cap", "recovery_required", "needs_repair", "conflict"] * 3


class World:
    """A clock, randomness, and the attempts of one call."""

    def __init__(self, rng, call):
        self.rng, self.call = rng, call
        self.now = 0.0
        self.u = 0
        self.kind = rng.choice(OFTEN)
        self.steps = []
        self.repairs = 0

    def attempt(self):
        rng = self.rng
        if rng.random() < 0.12:
            self.kind = rng.choice(OFTEN if rng.random() < 0.8 else list(FAILURES))
        self.now = round(self.now + rng.choice([1e-6, 1e-6, 0.01, 0.3, 3, 31]), 6)
        self.u = rng.choice([0, 2**32 - 1, rng.randrange(2**32)])
        if len(self.steps) > 3 and rng.random() < 0.05:
            self.steps.append({"now_us": self.us(), "kind": "ok"})
            return client._AttemptResult(http.OK)
        step = {"now_us": self.us(), "random": self.u, "kind": self.kind}
        hint = None
        if self.kind == "admission_cap" and rng.random() < 0.4:
            hint = rng.choice([0.0, 0.5, 2.0, 29.5, 60.0])
            step["retry_after_us"] = int(hint * 1e6)
        self.steps.append(step)
        text = FAILURES[self.kind]
        return client._AttemptResult(client._classify_cli_error(text, 1), error=text, returncode=1, retry_after=hint)

    def us(self):
        return round(self.now * 1e6)

    def sleep(self, delay):
        self.steps[-1]["delay_us"] = round(delay * 1e6, 3)
        self.now = round(self.now + int(delay * 1e6) / 1e6, 6)

    def uniform(self, low, high):
        return low + (high - low) * (self.u / (2**32 - 1))

    def repair(self, env):
        self.steps[-1]["repair"] = True
        self.repairs += 1


def loop(rng):
    call = {
        "remote": rng.random() < 0.8,
        "write": rng.random() < 0.5,
        "surface_conflict": rng.random() < 0.15,
        "connect_retry": rng.random() < 0.9,
    }
    budget = rng.choice([None, None, 5.0, 30.0, 200.0]) if call["remote"] else None
    world = World(rng, call)
    me = SimpleNamespace(
        _STORAGE_MISMATCH_HINT="hint",
        is_remote=call["remote"],
        connect_retry=call["connect_retry"],
        server_url="http://h",
        _repair=world.repair,
    )
    client.time = SimpleNamespace(monotonic=lambda: world.now, sleep=world.sleep)
    client.random = SimpleNamespace(uniform=world.uniform)
    try:
        client.OmnigraphClient._retry_loop(
            me, world.attempt, "call", env={}, is_write=call["write"],
            surface_conflict=call["surface_conflict"], deadline=budget,
        )
        end = "ok"
    except RuntimeError as error:
        end = type(error).__name__
    if budget:
        call["budget_us"] = int(budget * 1e6)
    return {"call": call, "steps": world.steps, "end": end}


def write(name, cases):
    with open(name, "w", encoding="utf-8") as out:
        for case in cases:
            out.write(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n")


rng = random.Random(45)
write("witan_core_verdicts.jsonl", verdicts(rng, 300))
write("witan_core_loops.jsonl", [loop(rng) for _ in range(150)])

"""Random calls: what they are, and how each of their attempts fails."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REFUSED = (
    "Error: \n   0: \x1b[91merror sending request for url (http://graph.example:8080/x)\x1b[0m\n"
    "   1: \x1b[91mclient error (Connect)\x1b[0m\n   2: \x1b[91mtcp connect error\x1b[0m\n"
    "   3: \x1b[91mConnection refused (os error 111)\x1b[0m\n\nLocation:\n   main.rs:1\n"
)
STORAGE = "__manifest is stamped at internal schema v4, but this omnigraph reads only v6."
QUARANTINED = "OCC recovery sidecar '01M2V544' found, but its manifest delta differs"

COMMAND_TEXTS: Mapping[str, tuple[str, ...]] = {
    "unavailable": (
        REFUSED,
        "dns error: failed to lookup address",
        "server discovery connection failed (DNS, TCP, proxy, or TLS); not sent\n",
        "server discovery timed out",
        "graph is loading; wait for its startup attempt to complete\nHTTP 503\n",
        "graph admission is closed for a serving transition",
    ),
    "admission_cap": (
        "actor in-flight count cap 16 exceeded",
        "actor byte budget exceeded: would use 999 bytes against cap 100",
        "HTTP 429 too_many_requests",
    ),
    "conflict": (
        "stale view of 'node:Doc': expected manifest table version 6 — refresh and retry",
        "write authority 'graph_head:main' changed — reprepare from the current branch state",
        "expected published dataset version 6 but current is 7",
    ),
    "needs_repair": (
        "Lance HEAD version 9 ahead of manifest version 8; run `omnigraph repair` before writing",
        "stale view: 9, ahead of published dataset version 8",
    ),
    "recovery": ("recovery required for operation 01KZY: pending Load recovery",),
    "precondition": ("precondition_failure {expected: A}", "precondition failed on branch 'main'"),
    "quarantined": (QUARANTINED,),
    "rebuild": ("full-text index 'x' requires rebuild; run omnigraph rebuild-full-text-indexes",),
    "contract": ("server response lacks a header; this request's effects are unknown",),
    "blocked": ("graph is unavailable; an operator must apply a correction\nHTTP 503",),
    "storage": (STORAGE, f"\x1b[91m{STORAGE}\x1b[0m\n\nLocation:\n   x.rs:1\nBacktrace omitted"),
    "fatal": ("policy denied", "connection closed before message completed", "", "  \n"),
}
"""What the command prints, by what it is."""

MIXED = (
    "tcp connect error",
    "in-flight count cap",
    "stale view",
    "omnigraph repair",
    "refresh and retry",
    "ahead of manifest",
    "byte budget exceeded",
    "precondition failed",
    "recovery required",
    STORAGE,
    "nothing in particular",
)
"""Of these several may stand in one text."""

ANSWERS: Mapping[str, tuple[tuple[int, str], ...]] = {
    "unavailable": ((503, "service unavailable"), (503, "graph is loading")),
    "admission_cap": ((429, "actor in-flight count cap exceeded"), (429, "")),
    "conflict": ((409, "stale view; refresh and retry"), (409, "reworded"), (500, "stale view")),
    "needs_repair": ((500, "ahead of manifest, run omnigraph repair"),),
    "recovery": ((503, "recovery required for operation 01"),),
    "precondition": ((412, "graph commit no longer current"), (500, "precondition_failure")),
    "quarantined": ((409, QUARANTINED), (503, QUARANTINED)),
    "rebuild": ((409, "run omnigraph rebuild-full-text-indexes"),),
    "blocked": ((503, "graph is unavailable; an operator must apply a correction"),),
    "storage": ((500, STORAGE),),
    "fatal": ((400, "bad request"), (404, "graph not found"), (502, "Bad Gateway")),
}
"""What the server answers, by what it is."""

LASTING = ("unavailable", "admission_cap", "conflict", "needs_repair", "recovery")
"""Failures that may be retried."""

RETRY_AFTER = ("0", "0.25", "0.1", "1", "2.5", " 3 ", "60", "0.0000005", "-1", "soon", "nan")

TICKS = (2.0**-6, 2.0**-20)
"""A clock's ticks in seconds. Each number of them is exact, and of the first a
whole number of microseconds too, so that two times can be equal."""


@dataclass(frozen=True)
class Failure:
    """How one attempt fails.

    Attributes:
        kind: What it is meant to be, for people.
        lasts: Ticks that the attempt takes.
        chance: The random number for the delay after it.
        returncode: Of a command.
        stdout: What it prints.
        stderr: The same for its other stream.
        status: Of an HTTP answer; 0: the connection is refused, -1: it breaks.
        body: The answer's.
        retry_after: Its header.
        stamp: The contract that its header names.
    """

    kind: str
    lasts: int
    chance: float
    returncode: int = 1
    stdout: str = ""
    stderr: str = ""
    status: int = 0
    body: str = ""
    retry_after: str | None = None
    stamp: str = ""


@dataclass(frozen=True)
class Scenario:
    """A call.

    Attributes:
        seed: That made it.
        http: Whether it goes over HTTP, and not by the command line.
        remote: Whether its store is a server's.
        write: Whether it may change something.
        surface_conflict: As witan-core means it.
        connect_retry: Likewise.
        hint: Whether the client has a hint for a store of another version.
        budget: The call's own, in seconds; 0: none.
        tick: Of the clock.
        failures: Of the attempts in order.
        lasting: Whether the last failure goes on for ever; else success follows.
        began: When the clock begins, in seconds.
        constants: witan-core's constants that are other than they were.
        helper: A backoff helper that somebody has replaced, or ``""``.
    """

    seed: int
    http: bool
    remote: bool
    write: bool
    surface_conflict: bool
    connect_retry: bool
    hint: bool
    budget: float
    tick: float
    failures: tuple[Failure, ...]
    lasting: bool
    began: float = 1000.0
    constants: Mapping[str, Any] = field(default_factory=dict)
    helper: str = ""


def generate(seed: int, two_transports: bool) -> Scenario:
    """The call of a seed, for a release that has HTTP or one that has not."""
    rng = random.Random(seed)
    remote = rng.random() < 0.75
    http = two_transports and remote and rng.random() < 0.5
    tick = rng.choice(TICKS)
    favourite = rng.choice(LASTING)
    count = rng.choice((0, 1, 1, 2, 3, 4, 6, 9, 12, 20))
    failures = tuple(_failure(rng, http, tick, favourite) for _ in range(count))
    return Scenario(
        seed=seed,
        http=http,
        remote=remote,
        write=rng.random() < 0.5,
        surface_conflict=rng.random() < 0.2,
        connect_retry=rng.random() < 0.85,
        hint=rng.random() < 0.5,
        budget=_budget(rng) if two_transports else 0.0,
        tick=tick,
        failures=failures,
        lasting=count > 0 and rng.random() < 0.6,
        constants=_constants(rng, two_transports),
        helper=_helper(rng, two_transports),
    )


def _failure(rng: random.Random, http: bool, tick: float, favourite: str) -> Failure:
    kind = favourite
    if rng.random() < 0.25:
        kind = rng.choice(LASTING)
    if rng.random() < 0.06:
        kind = rng.choice(sorted({*COMMAND_TEXTS, *ANSWERS} - set(LASTING)))
    seconds = rng.choice((0.0, 0.0, 0.0, 0.25, 0.3, 2.0, 61.0))
    common: dict[str, Any] = {
        "kind": kind,
        "lasts": round(seconds / tick),
        "chance": _chance(rng),
    }
    return Failure(**common, **(_answer(rng, kind) if http else _command(rng, kind)))


def _chance(rng: random.Random) -> float:
    """Nothing, half and all of the jitter, or a part that is exact on the wire."""
    part = rng.getrandbits(32) / (2**32 - 1)
    return rng.choice((0.0, 0.5, 1.0, part, part))


def _command(rng: random.Random, kind: str) -> dict[str, Any]:
    text = rng.choice(COMMAND_TEXTS[kind])
    if rng.random() < 0.05:
        text = rng.choice(("\n", "; ")).join(rng.sample(MIXED, rng.choice((2, 2, 3, 4))))
    returncode = rng.choice((1, 1, 1, 2, 101, -9, 4))
    if rng.random() < 0.03:
        returncode = 75
    if text.strip() and rng.random() < 0.15:
        return {"returncode": returncode, "stdout": _object(rng, text)}
    stdout = rng.choice(("", "", '{"rows": ["tcp connect error"]}', '{"error": "stale view"}'))
    return {"returncode": returncode, "stderr": text, "stdout": stdout}


def _object(rng: random.Random, text: str) -> str:
    error: dict[str, Any] = {"error": text}
    if rng.random() < 0.5:
        error["code"] = rng.choice(("conflict", "too_many_requests", "bad_request", None, 7))
    if rng.random() < 0.5:
        error["http_status"] = rng.choice((400, 409, 429, 503, None))
    if rng.random() < 0.1:
        error["precondition_failure"] = {"expected": "a"}
    return json.dumps(error, indent=rng.choice((None, 2)), ensure_ascii=rng.random() < 0.5)


def _answer(rng: random.Random, kind: str) -> dict[str, Any]:
    stamp = rng.choice(("0.13", "0.13", "0.13", "0.13", ""))
    if kind == "contract":
        return {"status": rng.choice((200, 429, 503)), "stamp": "0.12"}
    if kind == "unavailable" and rng.random() < 0.5:
        return {"status": 0 if rng.random() < 0.8 else -1}
    status, text = rng.choice(ANSWERS[kind])
    body = json.dumps({"error": text, "code": kind}) if rng.random() < 0.7 else text
    after = rng.choice(RETRY_AFTER) if rng.random() < 0.4 else None
    return {"status": status, "body": body, "retry_after": after, "stamp": stamp}


def _budget(rng: random.Random) -> float:
    """Mostly none, or one that delays without jitter reach exactly."""
    return rng.choice(
        (
            0.0,
            0.0,
            0.0,
            0.25,
            0.5,
            0.75,
            1.75,
            3.75,
            5.0,
            7.75,
            30.0,
            61.25,
            rng.randrange(6400) / 64,
        )
    )


def _constants(rng: random.Random, two_transports: bool) -> dict[str, Any]:
    if rng.random() < 0.8:
        return {}
    choices: dict[str, tuple[Any, ...]] = {
        "_UNAVAILABLE_MAX_WAIT": (0.0, 0.25, 7.5, 42, 150.0, 400.0),
        "_UNAVAILABLE_BASE_DELAY": (0.125, 2.0, 20.0),
        "_UNAVAILABLE_MAX_DELAY": (0.5, 5, 16.0),
        "_ADMISSION_CAP_MAX_ATTEMPTS": (1, 2, 9),
        "_ADMISSION_CAP_BASE_DELAY": (0.125, 1),
        "_ADMISSION_CAP_MAX_DELAY": (0.5, 8.0),
        "_MAX_ATTEMPTS": (1, 3, 12),
    }
    if two_transports:
        choices |= {
            "_RECOVERY_MAX_ATTEMPTS": (1, 3, 9),
            "_RECOVERY_BASE_DELAY": (0.0625, 0.5),
            "_RECOVERY_MAX_DELAY": (0.5, 6.4),
            "_CONFLICT_BASE_DELAY": (0.0, 0.05, 3.0),
            "_CONFLICT_MAX_DELAY": (0.25, 4.0),
            "_UNAVAILABLE_MARKERS": (("dns error", "policy denied"),),
            "_EXIT_RETRY": (4,),
        }
    names = rng.sample(sorted(choices), rng.choice((1, 1, 2, 4)))
    return {name: rng.choice(choices[name]) for name in names}


def _helper(rng: random.Random, two_transports: bool) -> str:
    if rng.random() < 0.9:
        return ""
    names = ["_unavailable_backoff", "_admission_cap_backoff", "_jittered_backoff"]
    if two_transports:
        names += ["_conflict_backoff", "_recovery_backoff"]
    return rng.choice(names)

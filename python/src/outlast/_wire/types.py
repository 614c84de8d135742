"""The contract's messages as they cross to the plugin. For type checkers: nothing imports
it when the package runs.

Made by `go run ./abi/generate` from the contract's messages; not by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from typing_extensions import NotRequired


class WireCall(TypedDict):
    label: NotRequired[str]
    remote: bool
    write: bool
    surface_conflict: NotRequired[bool]
    connect_retry: NotRequired[bool]
    one_request: NotRequired[bool]
    repeatable: NotRequired[bool]
    refuses_before_acting: NotRequired[bool]
    budget_us: NotRequired[int]
    started_us: NotRequired[int]
    seed: NotRequired[int]


class WireResult(TypedDict):
    exit_code: NotRequired[int]
    signal: NotRequired[str]
    stdout: NotRequired[str]
    stdout_head: NotRequired[str]
    stdout_tail: NotRequired[str]
    stderr: NotRequired[str]
    stderr_head: NotRequired[str]
    stderr_tail: NotRequired[str]
    http_status: NotRequired[int]
    message: NotRequired[str]
    message_head: NotRequired[str]
    message_tail: NotRequired[str]
    retry_after_us: NotRequired[float]
    started_us: NotRequired[int]
    ended_us: NotRequired[int]
    timed_out: NotRequired[bool]
    streamed: NotRequired[bool]
    sent: NotRequired[Literal["unknown", "no", "yes"]]
    failure: NotRequired[Literal["unresolved", "unconnected", "untrusted", "broke", "stale", "cut", "malformed"]]
    only_request: NotRequired[bool]


class WireEvent(TypedDict):
    type: Literal["attempted", "woken", "down", "not_ready", "repaired", "cancelled"]
    now_us: int
    random: NotRequired[int]
    by: NotRequired[Literal["accepting", "ready"]]
    result: NotRequired[WireResult]


class WireWake(TypedDict):
    by: Literal["accepting", "ready"]
    after_us: NotRequired[int]


WireMatched = TypedDict("WireMatched", {
    "in": "str",
    "text": "str",
})


class WireWhy(TypedDict):
    rule: str
    matched: list[WireMatched]


class WireHistoryEntry(TypedDict):
    attempt: NotRequired[int]
    at_us: int
    kind: NotRequired[str]


class WireOutcome(TypedDict):
    type: Literal["ok", "failed", "exhausted", "conflict", "precondition_failed", "indeterminate", "cancelled"]
    kind: NotRequired[str]
    effects: NotRequired[Literal["none", "unknown"]]
    reason: NotRequired[Literal["window", "attempts", "call", "windows", "broken_connections", "retry_after", "streamed", "repair_failed", "max_attempts"]]
    budget: NotRequired[str]
    budget_attempts: NotRequired[int]
    budget_spent_us: NotRequired[int]
    attempts: int
    elapsed_us: int
    retry_after_us: NotRequired[int]
    refused_us: NotRequired[int]
    message: NotRequired[str]
    remedy: NotRequired[str]
    last_error: NotRequired[str]
    history: list[WireHistoryEntry]


class WireAction(TypedDict):
    type: Literal["retry", "stop"]
    kind: NotRequired[str]
    budget: NotRequired[str]
    attempt: NotRequired[int]
    delay_us: NotRequired[int]
    remaining_us: NotRequired[int]
    repair: NotRequired[bool]
    repair_force: NotRequired[bool]
    wake: NotRequired[WireWake]
    why: NotRequired[WireWhy]
    outcome: NotRequired[WireOutcome]
    state: NotRequired[str]


class WireDecideRequest(TypedDict):
    policy: str | dict[str, Any]
    call: WireCall
    state: NotRequired[str]
    event: WireEvent
    explain: NotRequired[bool]


class WireDecision(TypedDict):
    action: WireAction
    state: NotRequired[str]


class WireRunRequest(TypedDict):
    policy: str | dict[str, Any]
    call: WireCall
    state: NotRequired[str]
    first: NotRequired[WireEvent]


class WireContinue(TypedDict):
    state: NotRequired[str]
    first: WireEvent


WireRunAnswer = TypedDict("WireRunAnswer", {
    "outcome": "NotRequired[WireOutcome]",
    "continue": "NotRequired[WireContinue]",
})


class WireSlept(TypedDict):
    wait: Literal["full", "woken", "down", "not_ready", "cancelled"]
    by: NotRequired[Literal["accepting", "ready"]]
    now_us: int
    random: NotRequired[int]


class WireNow(TypedDict):
    now_us: int


class WireVersion(TypedDict):
    major: int
    minor: int
    patch: int


class WireBuiltIn(TypedDict):
    name: NotRequired[str]
    digest: NotRequired[str]


class WireDescription(TypedDict):
    abi: WireVersion
    version: NotRequired[str]
    build: NotRequired[str]
    policies: NotRequired[list[WireBuiltIn]]


class WireChecked(TypedDict):
    policy: NotRequired[dict[str, Any]]
    digest: NotRequired[str]


class WireFault(TypedDict):
    field: str
    message: str


class WireError(TypedDict):
    code: Literal["bad_request", "invalid_policy", "unknown_policy", "bad_state", "host_failed", "internal"]
    message: str
    field: NotRequired[str]
    faults: NotRequired[list[WireFault]]

"""What kind of failure a text is."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlast import Call, Policy, Result, Retry, witan
from witan.releases import Release

from .texts import Texts, markers
from .world import replaced

TEXTS = int(os.environ.get("OUTLAST_TEXTS", "10000"))
"""How many random texts each test has."""

IN_OUR_WORDS = {"retryable": "conflict", "fatal": "failed"}
KINDS = 9
"""Kinds that a text alone can be, without success and storage_mismatch."""


CAPTURES = Path(__file__).parents[3] / "plugin" / "policy" / "testdata"
"""What omnigraph 0.8 to 0.13 was seen to print."""


def documents() -> tuple[Policy, Policy]:
    """The policy for a client with a hint for stores of another version, and
    for one without.
    """
    document = witan.document()
    rules = [rule for rule in document["rules"] if rule["kind"] != "storage_mismatch"]
    return Policy("witan-core"), Policy({**document, "rules": rules})


def kind(policy: Policy, result: Result) -> str:
    session = policy.session(Call(remote=True, write=False), 0)
    action = session.next(result, 0.0, 0.0)
    return action.kind if isinstance(action, Retry) else action.outcome.kind


def test_output_by_the_policy(latest: Release) -> None:
    omnigraph = latest.omnigraph
    with_hint, without = documents()
    seen: Counter[str] = Counter()
    for code, stdout, stderr in texts(1).outputs(TEXTS):
        failure = omnigraph._cli_failure(stdout, stderr)
        want = omnigraph._classify_cli_error(failure.classify, code)
        result = Result.from_process(code, stdout, stderr)
        assert kind(without, result) == IN_OUR_WORDS.get(want, want), (code, stdout, stderr)
        mismatch = omnigraph._is_storage_version_mismatch(failure.message)
        assert (kind(with_hint, result) == "storage_mismatch") == mismatch, (stdout, stderr)
        seen[want] += 1
    assert len(seen) > KINDS or TEXTS < 5000, seen


def captured() -> Iterator[tuple[int, str, str]]:
    """Exit codes with what was printed on stdout and stderr."""
    for name in ("captures.jsonl", "captures-0.13.jsonl"):
        for line in (CAPTURES / name).read_text("utf-8").splitlines():
            capture = json.loads(line)
            if capture["exit"] != 0:
                yield capture["exit"], capture["stdout"], capture["stderr"]


@pytest.mark.usefixtures("uninstalled")
def test_what_omnigraph_prints(each_with_http: Release) -> None:
    """By the policy alone and while it is installed, in each release."""
    omnigraph = each_with_http.omnigraph
    with_hint, without = documents()
    outputs = list(captured())
    failures = [omnigraph._cli_failure(stdout, stderr) for _, stdout, stderr in outputs]
    wanted = [
        omnigraph._classify_cli_error(failure.classify, code)
        for (code, _, _), failure in zip(outputs, failures, strict=True)
    ]
    with each_with_http.importable():
        witan.install()
    for (code, stdout, stderr), theirs, want in zip(outputs, failures, wanted, strict=True):
        result = Result.from_process(code, stdout, stderr)
        assert kind(without, result) == IN_OUR_WORDS.get(want, want), (code, stdout, stderr)
        mismatch = omnigraph._is_storage_version_mismatch(theirs.message)
        assert (kind(with_hint, result) == "storage_mismatch") == mismatch, (stdout, stderr)
        installed = omnigraph._cli_failure(stdout, stderr)
        assert installed == theirs
        assert omnigraph._classify_cli_error(installed.classify, code) == want
    assert len(outputs) > 500
    assert len(set(wanted)) >= KINDS - 2


def test_answers_by_the_policy(latest: Release) -> None:
    """A message that begins like one of the transport's own is taken for that."""
    with_hint, without = documents()
    seen: Counter[str] = Counter()
    for status, message in texts(2).answers(TEXTS):
        result = Result(http_status=status, message=message)
        if result.ok:
            continue
        want = latest.http.classify_status(status, message)
        got = kind(without, result)
        if got != "contract_violation":
            assert got == IN_OUR_WORDS.get(want, want), (status, message)
        mismatch = latest.omnigraph._is_storage_version_mismatch(message)
        assert (kind(with_hint, result) == "storage_mismatch") == mismatch, (status, message)
        seen[want] += 1
    assert len(seen) >= KINDS - 1 or TEXTS < 5000, seen


@pytest.mark.usefixtures("uninstalled")
def test_installed(latest: Release) -> None:
    """The functions that witan-core has while the plugin is installed."""
    omnigraph, http = latest.omnigraph, latest.http
    theirs = (omnigraph._cli_failure, omnigraph._classify_cli_error, http.classify_status)
    with latest.importable():
        witan.install()
    installed = (omnigraph._cli_failure, omnigraph._classify_cli_error, http.classify_status)
    assert not set(installed) & set(theirs)
    for code, stdout, stderr in texts(3).outputs(TEXTS):
        failures = [judge[0](stdout, stderr) for judge in (theirs, installed)]
        assert failures[0] == failures[1], (stdout, stderr)
        want, got = theirs[1](failures[0].classify, code), installed[1](failures[1].classify, code)
        assert got == want, (code, stdout, stderr)
        assert installed[1](stderr) == theirs[1](stderr), stderr
    for status, message in texts(4).answers(TEXTS):
        assert installed[2](status, message) == theirs[2](status, message), (status, message)


@pytest.mark.usefixtures("uninstalled")
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("_UNAVAILABLE_MARKERS", ("gone fishing",), "gone fishing"),
        ("_ADMISSION_CAP_MARKERS", ["gone fishing", "x"], "gone fishing"),
        ("_CLI_CONTRACT_VIOLATION", "gone fishing", "gone fishing"),
        ("_RECOVERY_REQUIRED", ("gone fishing",), "gone fishing"),
        ("_NEEDS_REPAIR", ("gone fishing",), "ahead of manifest"),
        ("_EXIT_RETRY", 33, ""),
    ],
)
def test_markers_that_were_replaced(latest: Release, name: str, value: Any, text: str) -> None:
    omnigraph = latest.omnigraph
    theirs = omnigraph._classify_cli_error
    with latest.importable():
        witan.install()
    with replaced(omnigraph, name, value):
        for candidate in (text, "gone fishing", "tcp connect error", "stale view"):
            for code in (1, 33, 75):
                assert omnigraph._classify_cli_error(candidate, code) == theirs(candidate, code)


@pytest.mark.usefixtures("uninstalled")
def test_markers_of_http_that_were_replaced(latest: Release) -> None:
    omnigraph, http = latest.omnigraph, latest.http
    theirs = omnigraph._classify_cli_error, http.classify_status
    with latest.importable():
        witan.install()
    with (
        replaced(http, "QUARANTINE_MARKERS", ("sealed", "by hand")),
        replaced(http, "GRAPH_BLOCKED_MARKER", "ask someone"),
    ):
        for text in (
            "sealed by hand",
            "sealed",
            "ask someone",
            "graph is unavailable; an operator must",
        ):
            assert omnigraph._classify_cli_error(text) == theirs[0](text)
            for status in (409, 500, 503):
                assert http.classify_status(status, text) == theirs[1](status, text)


def texts(seed: int) -> Texts:
    return Texts(seed, markers(witan.document()))

"""Policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from fakes import Failing
from outlast import Policy, PolicyError, Result
from outlast._policy.bundled import bundled
from outlast._policy.document import BUILT_IN

DOCUMENT: dict[str, Any] = {
    "version": 1,
    "name": "report-client",
    "budgets": {
        "unavailable": {
            "max_wait": "90s",
            "backoff": {
                "type": "exponential",
                "base": "500ms",
                "multiplier": 2,
                "cap": "10s",
                "jitter": 0,
            },
        }
    },
    "rules": [
        {
            "kind": "unavailable",
            "when": [{"exit_codes": [7], "text": [{"in": "message", "starts": ["connect: "]}]}],
            "then": [
                {"if": {"remote": True, "connect_retry": True}, "retry": "unavailable"},
                {"stop": {"effects": "none"}},
            ],
        },
        {"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]},
    ],
}

CALL = outlast.Call(remote=True, write=False)
AWAY = Result(exit_code=7, stderr=b"connect: refused")


def first_delay(policy: Policy) -> float:
    action = policy.session(CALL).next(AWAY, 0.0)
    assert isinstance(action, outlast.Retry)
    return action.delay


def test_the_default_is_built_in() -> None:
    plugin = Failing()
    policy = Policy(plugin=plugin)
    assert policy.name == "network"
    assert repr(policy) == "Policy('network')"
    assert plugin.started == 0
    document = policy.document
    assert document["budgets"]["unavailable"]["max_wait"] == "150s"
    assert Policy(document).digest == policy.digest


def test_what_is_built_in_is_what_the_plugin_says() -> None:
    assert tuple(outlast.info()["policies"]) == BUILT_IN
    for name, digest in outlast.info()["policies"].items():
        assert Policy(name).digest == digest


COMMANDS = Path(__file__).parents[3] / "commands"
BUNDLED = sorted(path.parent.name for path in COMMANDS.glob("*/policy.json"))


@pytest.mark.parametrize("name", BUNDLED)
def test_a_policy_that_comes_with_outlast(name: str) -> None:
    plugin = Failing()
    policy = Policy(name, plugin=plugin)
    assert (policy.name, plugin.started) == (name, 0)  # not even checked before it is needed
    assert policy.digest == Policy(COMMANDS / name / "policy.json").digest


def test_they_are_all_there() -> None:
    assert len(BUNDLED) > 4
    assert list(bundled()) == BUNDLED
    with pytest.raises(PolicyError, match="for common commands there are curl, git, "):
        Policy("crul")


def test_curl_is_waited_for() -> None:
    refused = Result(exit_code=7, stderr=b"curl: (7) Failed to connect to 127.0.0.1 port 1\n")
    action = Policy("curl").session(CALL).next(refused, 0.0)
    assert isinstance(action, outlast.Retry)
    write = outlast.Call(remote=True, write=True)
    stop = Policy("curl").session(write).next(refused, 0.0)
    assert isinstance(stop, outlast.Stop)
    assert stop.outcome.type == "indeterminate"  # nothing says that it was the only request


def test_a_document_as_a_mapping_and_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(DOCUMENT, indent=2))
    marked = tmp_path / "marked.json"  # as editors on Windows write it
    marked.write_text(json.dumps(DOCUMENT), encoding="utf-8-sig")
    policies = [
        Policy(DOCUMENT),
        Policy(path),
        Policy(str(path)),
        Policy(path, check=False),
        Policy(marked),
    ]
    assert [first_delay(p) for p in policies] == [0.5] * 5
    assert len({p.digest for p in policies}) == 1
    assert {p.name for p in policies} == {"report-client"}
    document = policies[0].document
    assert document is not None
    assert document["budgets"]["unavailable"]["call_budget"]  # a default, filled in
    assert Policy(document).digest == policies[0].digest


def test_a_document_is_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Failing()
    policy = Policy(DOCUMENT, plugin=plugin)
    asked: list[int] = []
    ask = plugin.ask

    def watched(export: str, request: bytes, *rest: Any) -> Any:
        asked.append(len(request))
        return ask(export, request, *rest)

    monkeypatch.setattr(plugin, "ask", watched)
    for _ in range(3):
        first_delay(policy)
    assert [size > 600 for size in asked] == [False, True, False, False]


def test_an_instance_that_forgot_a_document_is_told_again() -> None:
    plugin = Failing()
    policy = Policy(DOCUMENT, plugin=plugin)
    first_delay(policy)
    plugin.faults = [RuntimeError("lost")]
    assert first_delay(policy) == 0.5
    assert plugin.replaced == 1


def test_every_fault_of_a_document_shows_at_once() -> None:
    wrong = json.loads(json.dumps(DOCUMENT))
    wrong["budgets"]["unavailable"]["max_wait"] = 90
    wrong["rules"][0]["kind"] = ""
    wrong["surprise"] = 1
    with pytest.raises(PolicyError) as raised:
        Policy(wrong)
    error = raised.value
    assert (error.name, error.code) == ("report-client", "invalid_policy")
    assert {f.field for f in error.faults} >= {
        "budgets.unavailable.max_wait",
        "rules[0].kind",
        "surprise",
    }
    assert "budgets.unavailable.max_wait: " in str(error)


def test_a_fault_of_an_unchecked_document_keeps_the_cause() -> None:
    plugin = Failing()
    policy = Policy({"version": 1}, check=False, plugin=plugin)
    assert plugin.started == 0
    refused = ConnectionRefusedError()

    def attempt() -> Result:
        raise refused

    with pytest.raises(PolicyError) as raised:
        policy.run(attempt, CALL)
    assert raised.value.__cause__ is refused
    with pytest.raises(PolicyError):
        policy.check()


def test_a_duplicate_in_a_file_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    path.write_text('{"version": 1, "version": 1}')
    with pytest.raises(PolicyError, match="version"):
        Policy(path)


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ("omnigraf", "unknown_policy", "built in are omnigraph, witan-core, network"),
        ("missing/policy", "unreadable", "cannot read the document"),
        ("missing.json", "unreadable", "No such file"),
        (Path("missing"), "unreadable", "No such file"),
        ({"name": "x", "a": float("nan")}, "invalid_policy", "not JSON"),
        ({"a": {1, 2}}, "invalid_policy", "not JSON"),
        ({"a": "x" * 300_000}, "invalid_policy", "more than 262144 bytes"),
    ],
)
def test_what_is_no_policy(source: Any, code: str, text: str) -> None:
    with pytest.raises(PolicyError, match=text) as raised:
        Policy(source)
    assert raised.value.code == code


def test_a_file_that_is_too_long_or_no_text(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(b" " * 300_000)
    with pytest.raises(PolicyError, match="more than"):
        Policy(path)
    path.write_bytes(b"\xff")
    with pytest.raises(PolicyError, match="cannot read"):
        Policy(path)


def test_what_is_no_source() -> None:
    with pytest.raises(TypeError, match="policy is of type int"):
        Policy(3)  # type: ignore[arg-type]

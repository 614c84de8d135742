"""What a policy wants next."""

from __future__ import annotations

import pytest

from outlast import Matched, Outcome, Retry, Stop, Wake, Why
from outlast._call.action import UnknownActionError, read_action


def test_a_retry_is_read_whole() -> None:
    action = read_action(
        {
            "type": "retry",
            "kind": "unavailable",
            "budget": "b",
            "attempt": 2,
            "delay_us": 512_000,
            "remaining_us": 0,
            "repair": True,
            "repair_force": True,
            "wake": {"by": "ready", "after_us": 1},
            "why": {"rule": "r", "matched": [{"in": "cause 1", "text": "t"}], "more": 1},
            "more": 1,
        }
    )
    assert action == Retry(
        delay=0.512,
        repair=True,
        wake=Wake("ready", 1e-6),
        kind="unavailable",
        budget="b",
        attempt=2,
        remaining=0.0,
        repair_force=True,
        why=Why("r", (Matched("cause 1", "t"),)),
    )


def test_a_retry_is_read_with_little() -> None:
    assert read_action({"type": "retry", "delay_us": 0}) == Retry(0.0)


def test_a_stop_is_read() -> None:
    action = read_action({"type": "stop", "outcome": {"type": "conflict"}, "why": {"rule": "c"}})
    assert action == Stop(Outcome("conflict"), Why("c"))


def test_actions_can_be_matched() -> None:
    match read_action({"type": "retry", "delay_us": 1_000_000}):
        case Retry(delay=delay, repair=False):
            assert delay == 1.0
        case _:
            raise AssertionError


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(UnknownActionError, match="'wait_for_godot'"):
        read_action({"type": "wait_for_godot"})

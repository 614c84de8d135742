"""How a call ended."""

from __future__ import annotations

import pytest

from outlast import Attempt, Exhausted, Outcome
from outlast._call.outcome import read_outcome

WHOLE = {
    "type": "exhausted",
    "kind": "unavailable",
    "effects": "none",
    "reason": "window",
    "budget": "unavailable",
    "budget_attempts": 20,
    "budget_spent_us": 150_000_000,
    "attempts": 21,
    "elapsed_us": 150_500_000,
    "retry_after_us": 1,
    "message": "gave up",
    "remedy": "wait",
    "last_error": "refused",
    "history": [{"attempt": 1, "at_us": 500_000, "kind": "unavailable"}],
    "unheard_of": {"by": "this version"},
}


def test_an_outcome_is_read_whole() -> None:
    assert read_outcome(WHOLE) == Outcome(
        type="exhausted",
        kind="unavailable",
        effects="none",
        reason="window",
        budget="unavailable",
        budget_attempts=20,
        budget_spent=150.0,
        attempts=21,
        elapsed=150.5,
        retry_after=1e-6,
        message="gave up",
        remedy="wait",
        last_error="refused",
        history=(Attempt(1, 0.5, "unavailable"),),
    )


def test_an_outcome_is_read_with_little() -> None:
    assert read_outcome({"type": "ok", "attempts": 1, "elapsed_us": 0}) == Outcome("ok", attempts=1)


def test_check() -> None:
    ok = Outcome("ok")
    assert ok.check() is ok
    with pytest.raises(Exhausted) as raised:
        Outcome("exhausted", message="gave up").check()
    assert raised.value.outcome.message == "gave up"

"""What a call is."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from outlast import Call, SurprisingValueWarning


def test_a_call_as_it_is_sent() -> None:
    call = Call(remote=True, write=False)
    assert call._members(None) == {"remote": True, "write": False}
    call = Call(
        remote=False,
        write=True,
        surface_conflict=True,
        connect_retry=False,
        repeatable=True,
        one_request=False,
        budget=1.5,
        label="mutate",
        started=0.25,
    )
    assert call._members(7) == {
        "remote": False,
        "write": True,
        "surface_conflict": True,
        "connect_retry": False,
        "repeatable": True,
        "one_request": False,
        "budget_us": 1_500_000,
        "label": "mutate",
        "started_us": 250_000,
        "seed": 7,
    }


def test_what_is_safe_must_be_said() -> None:
    with pytest.raises(TypeError, match="write"):
        Call(remote=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"remote": 1}, TypeError, "remote is 1, and must be True or False"),
        ({"write": None}, TypeError, "write is None"),
        ({"repeatable": 1}, TypeError, "repeatable is 1"),
        ({"one_request": 0}, TypeError, "one_request is 0, and must be True, False or None"),
        ({"label": b"x"}, TypeError, "label is"),
        ({"label": "é" * 129}, ValueError, "at most 256 bytes"),
        ({"budget": 0}, ValueError, "budget is 0, and must be above 0 s"),
        ({"budget": -1.0}, ValueError, "above 0 s"),
        ({"budget": 1e-9}, ValueError, "above 0 s"),
        ({"budget": float("nan")}, ValueError, "budget is nan"),
        ({"budget": "60"}, TypeError, "budget is '60'"),
        ({"started": float("inf")}, ValueError, "started is inf"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Call(**{"remote": True, "write": False, **given})


def test_a_budget_in_milliseconds_is_surprising() -> None:
    with pytest.warns(SurprisingValueWarning, match="150000 s, more than a day") as told:
        Call(remote=True, write=False, budget=150_000)
    assert told[0].filename == __file__


def test_a_read_may_say_that_it_loses_races() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Call(remote=True, write=False, surface_conflict=True)

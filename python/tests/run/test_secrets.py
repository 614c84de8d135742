"""Secrets in what a call tells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import outlast
from outlast import Call, Policy, Result
from outlast._run.secrets import Secrets
from outlast.testing import VirtualClock


@pytest.mark.parametrize(
    ("text", "secrets", "clean"),
    [
        ("a token abc.", ["abc"], "a token [redacted]."),
        ("abcdef", ["abc", "abcdef"], "[redacted]"),
        ("abcdef", ["abcd", "cdef"], "[redacted]"),
        ("aaaa b", ["aa"], "[redacted] b"),
        ("abcabc", ["abc"], "[redacted][redacted]"),
        ("red", ["", "acted"], "red"),
    ],
)
def test_each_stretch(text: str, secrets: Sequence[str], clean: str) -> None:
    assert Secrets(secrets).out_of(text) == clean
    assert Secrets(secrets).out_of(text.encode()) == clean.encode()


def test_no_event_and_no_outcome_has_one(clock: VirtualClock) -> None:
    events: list[outlast.events.Event] = []
    outcome = Policy().run(
        lambda: Result(exit_code=1, stderr="bad token"),
        Call(remote=True, write=False, label="with token"),
        secrets=["token"],
        observe=events.append,
        clock=clock.now,
        sleep=clock.sleep,
    )
    assert events
    assert "token" not in repr(events)
    assert "token" not in outcome.message + outcome.last_error

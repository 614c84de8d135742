"""How one attempt ended."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast import Result, SurprisingValueWarning
from outlast._wire.values import MAX_INTEGER


def test_a_result_as_it_is_sent() -> None:
    assert Result()._members() == {}
    result = Result(
        exit_code=1,
        stdout=b"out",
        stderr=b"\xff",
        retry_after=1.1,
        sent="no",
        timed_out=True,
        streamed=True,
        started=1.0,
        ended=2.5,
    )
    assert result._members() == {
        "exit_code": 1,
        "stdout": "out",
        "stderr": "\ufffd",
        "retry_after_us": 1_100_000,
        "sent": "no",
        "timed_out": True,
        "streamed": True,
        "started_us": 1_000_000,
        "ended_us": 2_500_000,
    }
    http = Result(http_status=503, message="busy")
    assert http._members() == {"http_status": 503, "message": "busy"}


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        (Result(exit_code=0), True),
        (Result(exit_code=1), False),
        (Result(exit_code=0, timed_out=True), False),
        (Result(signal="SIGKILL"), False),
        (Result(http_status=204), True),
        (Result(http_status=204, message="but"), False),
        (Result(http_status=500), False),
        (Result(), False),
    ],
)
def test_success(result: Result, ok: bool) -> None:
    assert result.ok is ok


@pytest.mark.parametrize(
    ("code", "want"), [(0, (0, "")), (101, (101, "")), (-9, (None, "SIGKILL")), (-64, (None, None))]
)
def test_from_process(code: int, want: tuple[int | None, str | None]) -> None:
    result = Result.from_process(code, b"o", b"e")
    assert result.exit_code == want[0]
    assert result.signal.startswith("SIG") if want[1] is None else result.signal == want[1]
    assert (result.stdout, result.stderr) == (b"o", b"e")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"exit_code": "1"}, TypeError, "exit_code is '1', and must be an int"),
        ({"exit_code": True}, TypeError, "exit_code is True"),
        ({"http_status": -1}, ValueError, "http_status is -1"),
        ({"http_status": 200.0}, TypeError, "http_status is 200.0"),
        ({"stderr": None}, TypeError, "stderr is of type NoneType, and must be bytes or str"),
        ({"sent": "maybe"}, ValueError, 'must be "no", "yes" or "unknown"'),
        ({"signal": 9}, TypeError, "signal is 9"),
        ({"signal": "x" * 33}, ValueError, "not a signal's name"),
        ({"started": math.nan}, ValueError, "started is nan"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Result(**given)


def test_a_negative_exit_code_is_surprising() -> None:
    with pytest.warns(SurprisingValueWarning, match="exit_code is -9.*from_process"):
        Result(exit_code=-9)


def test_two_sorts_of_result_in_one_are_surprising() -> None:
    with pytest.warns(SurprisingValueWarning, match="http_status may be ignored"):
        Result(exit_code=1, http_status=503)


@given(st.integers(0), st.integers(0), st.binary(), st.floats())
def test_whatever_came_can_be_sent(code: int, status: int, text: bytes, after: float) -> None:
    for result in (Result(exit_code=code, stderr=text), Result(http_status=status, message=text)):
        members = {**result._members(), **Result(retry_after=after)._members()}
        assert all(
            abs(value) <= MAX_INTEGER for value in members.values() if isinstance(value, int)
        )
        assert not any(isinstance(value, float) for value in members.values())

"""Values as they cross the boundary."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast._wire import values as wire


@given(st.integers(-(10**14), 10**14))
def test_microseconds_come_back(us: int) -> None:
    assert wire.micros(wire.seconds(us), "now") == us


@given(st.floats(-9e9, 9e9))
def test_microseconds_are_the_nearest(seconds: float) -> None:
    assert abs(wire.micros(seconds, "now") - seconds * 1e6) <= 0.5


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e10, -1e10, 1e308, 10**30])
def test_seconds_out_of_bounds_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="budget is "):
        wire.micros(bad, "budget")


@pytest.mark.parametrize("bad", ["1", None, True, [1]])
def test_what_is_no_number_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match="started is .*number of seconds"):
        wire.micros(bad, "started")  # type: ignore[arg-type]


@given(st.floats())
def test_any_retry_after_can_be_sent(seconds: float) -> None:
    us = wire.retry_after_micros(seconds)
    if math.isnan(seconds):
        assert us is None
    else:
        assert us is not None
        assert abs(us) <= wire.MAX_INTEGER


@given(st.floats(0, 1e9))
def test_retry_after_is_never_less_than_was_asked(seconds: float) -> None:
    us = wire.retry_after_micros(seconds)
    assert us is not None
    assert us / 1e6 >= seconds
    assert us <= math.ceil(seconds * 1e6) + 1


@pytest.mark.parametrize(("seconds", "us"), [(1.1, 1_100_000), (0.1, 100_000), (60.0, 60_000_000)])
def test_retry_after_is_not_rounded_without_need(seconds: float, us: int) -> None:
    assert wire.retry_after_micros(seconds) == us


@given(st.floats(0, 1))
def test_random_is_below_its_range(fraction: float) -> None:
    number = wire.random_number(fraction)
    assert number == min(math.floor(fraction * 2**32), 2**32 - 1)


@pytest.mark.parametrize("bad", [-0.001, 1.001, math.nan, math.inf])
def test_random_out_of_bounds_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="random is .* from 0 to 1"):
        wire.random_number(bad)


def test_each_bad_byte_is_one_replacement() -> None:
    assert wire.utf8(b"a\xff\xfe\xc3(\xe2\x82b") == "a\ufffd\ufffd\ufffd(\ufffd\ufffdb"
    assert wire.utf8("a\udcff\ud800") == "a\ufffd\ufffd"
    assert wire.utf8("Zoë\r\n\x85\u2028".encode()) == "Zoë\r\n\x85\u2028"


@given(st.binary(max_size=200))
def test_any_bytes_become_utf8(data: bytes) -> None:
    text = wire.utf8(data)
    text.encode()
    assert text.count("\ufffd") >= len(data) - len(data.decode(errors="ignore").encode())


@given(st.text(max_size=60), st.integers(1, 4000))
def test_a_clipped_text_is_its_two_ends(unit: str, times: int) -> None:
    text = wire.utf8(unit) * times
    head, tail = wire.clip(text)
    size = len(text.encode())
    if size <= wire.MAX_TEXT_BYTES:
        assert (head, tail) == (text, None)
        return
    assert tail is not None
    assert text.startswith(head)
    assert text.endswith(tail)
    for part in (head, tail):
        assert wire.MAX_TEXT_BYTES // 2 - 3 <= len(part.encode()) <= wire.MAX_TEXT_BYTES // 2


def test_members_of_texts() -> None:
    assert wire.text_members("stderr", b"") == {}
    assert wire.text_members("stderr", b"a") == {"stderr": "a"}
    long = wire.text_members("stderr", b"x" * 70_000)
    assert {name: len(text) for name, text in long.items()} == {
        "stderr_head": 32_768,
        "stderr_tail": 32_768,
    }


def test_nothing_but_whole_numbers_is_sent() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        wire.dumps(math.nan)
    assert json.loads(wire.dumps({"a": "\u2028ë"})) == {"a": "\u2028ë"}

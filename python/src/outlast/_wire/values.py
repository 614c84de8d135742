"""Values as they cross the boundary to the plugin.

Times are whole microseconds there, random numbers integers below 2**32, and
no float is ever sent: two readers of the same float need not agree on it.
"""

from __future__ import annotations

import json
import math
from typing import Any

MAX_INTEGER = 2**53 - 1
"""The largest magnitude of an integer on the wire (RFC 8259, section 6)."""

MAX_TEXT_BYTES = 64 << 10
"""The most that a result may carry of one text, in bytes of UTF-8."""

MAX_DOCUMENT_BYTES = 256 << 10
"""The most that a policy document may have, in bytes of UTF-8."""

MAX_LABEL_BYTES = 256
"""The most that a call's label may have, in bytes of UTF-8."""

RANDOM_RANGE = 1 << 32
"""Random numbers on the wire are from 0 to one less than this."""

SEED_RANGE = 1 << 53
"""Seeds on the wire are from 0 to one less than this."""

MICROS_PER_SECOND = 1_000_000


def micros(seconds: float, field: str) -> int:
    """Seconds as whole microseconds, to the nearest.

    Args:
        seconds: A finite number of at most 2**53 - 1 microseconds either way.
        field: What the number is, for the error.

    Raises:
        TypeError: If *seconds* is not a number.
        ValueError: If it is not finite, or too large.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"outlast: {field} is {seconds!r}, and must be a number of seconds")
    if not math.isfinite(seconds):
        raise ValueError(f"outlast: {field} is {seconds!r}, and must be a finite number of seconds")
    if abs(seconds) <= MAX_INTEGER:  # else the product might be infinite
        us = round(seconds * MICROS_PER_SECOND)
    if abs(seconds) > MAX_INTEGER or abs(us) > MAX_INTEGER:
        raise ValueError(
            f"outlast: {field} is {seconds!r} s, and must be at most {MAX_INTEGER} microseconds"
        )
    return us


def duration(seconds: float, field: str, most: int = MAX_INTEGER) -> int:
    """Seconds above 0 as whole microseconds, to the nearest.

    Args:
        seconds: A number of at least 1 microsecond.
        field: What it is, for the error.
        most: The most microseconds that it may be.

    Raises:
        TypeError: If *seconds* is not a number.
        ValueError: If it is out of bounds.
    """
    us = micros(seconds, field)
    if not 1 <= us <= most:
        bound = f" and at most {most // MICROS_PER_SECOND} s" if most < MAX_INTEGER else ""
        raise ValueError(f"outlast: {field} is {seconds!r}, and must be above 0 s{bound}")
    return us


def seconds(us: int) -> float:
    """Microseconds of the wire as seconds."""
    return us / MICROS_PER_SECOND


def retry_after_micros(seconds: float | None) -> int | None:
    """A server's Retry-After as microseconds, never less than it asked for.

    It is the server's word and not the caller's, so nothing is an error: what
    is too large is cut, and what is not a number is left out.
    """
    if seconds is None or math.isnan(seconds):
        return None
    if abs(seconds) * MICROS_PER_SECOND >= MAX_INTEGER:
        return MAX_INTEGER if seconds > 0 else -MAX_INTEGER
    us = round(seconds * MICROS_PER_SECOND)
    return us if us / MICROS_PER_SECOND >= seconds else us + 1


def random_number(fraction: float) -> int:
    """A random float as the wire has it, an integer below 2**32.

    Args:
        fraction: From 0 to 1, both included.

    Raises:
        ValueError: If it is outside of that, or not a number.
    """
    if not 0 <= fraction <= 1:  # also refuses a NaN
        raise ValueError(f"outlast: random is {fraction!r}, and must be from 0 to 1")
    return min(math.floor(fraction * RANDOM_RANGE), RANDOM_RANGE - 1)


def utf8(text: str | bytes) -> str:
    """A text as the plugin may get it: U+FFFD stands for each byte that is not
    UTF-8, and for each surrogate of a string; nothing else is changed.
    """
    if isinstance(text, str):
        try:
            text.encode()
        except UnicodeEncodeError:
            return _without_surrogates(text)
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        # The error handler "replace" would make one U+FFFD of several bytes.
        return _without_surrogates(text.decode(errors="surrogateescape"))


def _without_surrogates(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def clip(text: str) -> tuple[str, str | None]:
    """A text of valid UTF-8 in at most :data:`MAX_TEXT_BYTES`: all of it, or
    its head and its tail, which must never be joined. No cut splits a character.
    """
    if len(text) * 4 <= MAX_TEXT_BYTES:
        return text, None
    data = text.encode()
    if len(data) <= MAX_TEXT_BYTES:
        return text, None
    head, tail = MAX_TEXT_BYTES // 2, len(data) - MAX_TEXT_BYTES // 2
    while _continues(data[head]):
        head -= 1
    while _continues(data[tail]):
        tail += 1
    return data[:head].decode(), data[tail:].decode()


def _continues(byte: int) -> bool:
    """Whether the byte is inside of a character of UTF-8."""
    return byte & 0xC0 == 0x80


def text_members(name: str, text: str | bytes) -> dict[str, str]:
    """The members with which a result says a text; none for an empty one."""
    if not text:
        return {}
    head, tail = clip(utf8(text))
    if tail is None:
        return {name: head}
    return {name + "_head": head, name + "_tail": tail}


def dumps(value: Any) -> bytes:
    """A value as compact JSON."""
    return _ENCODER.encode(value).encode()


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

"""Secrets in texts that leave the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import AnyStr, overload

REDACTED = "[redacted]"
"""What a stretch of secrets is replaced by."""


class Secrets:
    """Texts that must not be shown."""

    def __init__(self, secrets: Sequence[str]) -> None:
        # One text alone would be taken letter by letter.
        if isinstance(secrets, (str, bytes)):
            raise TypeError("outlast: secrets must be a list of texts, not one text")
        self._texts = tuple(secret for secret in secrets if secret)
        self._bytes = tuple(secret.encode() for secret in self._texts)

    def __bool__(self) -> bool:
        return bool(self._texts)

    @overload
    def out_of(self, text: str) -> str: ...
    @overload
    def out_of(self, text: bytes | str) -> bytes | str: ...
    def out_of(self, text: bytes | str) -> bytes | str:
        """A text in which each stretch that secrets cover is replaced."""
        if isinstance(text, str):
            return _without(text, self._texts, REDACTED)
        return _without(text, self._bytes, REDACTED.encode())


def _without(text: AnyStr, secrets: Iterable[AnyStr], mark: AnyStr) -> AnyStr:
    """One secret may be a part of another, or overlap it, so all are looked for in
    the text as it came.
    """
    clean, done = text[:0], 0
    for start, end in sorted(place for secret in secrets for place in _places(text, secret)):
        if start >= done:
            clean += text[done:start] + mark
        done = max(done, end)
    return clean + text[done:]


def _places(text: AnyStr, secret: AnyStr) -> Iterator[tuple[int, int]]:
    at = text.find(secret)
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + 1)

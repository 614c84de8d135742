"""Random texts with markers in them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

NOISE = (
    "",
    "\n",
    "\r\n",
    "Error:",
    "   0: x",
    "HTTP 503",
    "HTTP 429",
    " some text ",
    "\u017f\u0130\u212a\u00e9",  # in lower case some of these are ASCII, or nearly
    "\x1b[91m",
    "\x1b[0m",
    "\x1b[1;31m",
    "\x1b[K",
    ":",
    'command_outcome: {"effects":"none"}',
    "Location:",
    "(HTTP 409, conflict)",
    "precondition",
    " failed: ",
    "\x0b",
    "\x1c",
    "\x85",
    "\u00a0",
    "\u2028",
)
BLANK = ("", "", "", " ", "\n", "\x1b[0m", "\x1c", "\u00a0", "\u2028\r\n")
STATUSES = (200, 204, 400, 404, 409, 412, 413, 429, 500, 502, 503, 504)
CODES = (1, 1, 1, 1, 2, 4, 75, 101, -9)


def markers(document: Any) -> list[str]:
    """All words that a policy looks for."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                if name in ("any", "all", "starts"):
                    found.update(member)
                walk(member)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(document)
    return sorted(found)


class Texts:
    """Draws texts in which markers stand, whole and damaged."""

    def __init__(self, seed: int, words: list[str]) -> None:
        self.rng = random.Random(seed)
        self.words = words

    def text(self) -> str:
        rng = self.rng
        parts = [
            self._damaged(rng.choice(self.words)) if rng.random() < 0.4 else rng.choice(NOISE)
            for _ in range(rng.randrange(6))
        ]
        return rng.choice(("", " ", "\n")).join(parts)

    def _damaged(self, word: str) -> str:
        rng, how = self.rng, self.rng.random()
        at = rng.randrange(len(word))
        if how < 0.5:
            return word
        if how < 0.6:
            return word.upper()
        if how < 0.8:
            return "".join(c.upper() if rng.random() < 0.5 else c for c in word)
        if how < 0.9:
            return word[:at] + rng.choice(("\x1b[91m", "\x1b[0m", "\n", " ", "\x1b[K")) + word[at:]
        return word[:at] + word[at + 1 :]

    def object(self) -> str:
        """What may be a JSON error object. Its error is not empty, its code is
        no object, and no name is repeated: see docs/witan-core.md.
        """
        rng = self.rng
        members: dict[str, Any] = {}
        names = ("message", "details", "effects", "request_dispatched", "precondition_failure")
        for name in rng.sample(names, rng.randrange(4)):
            members[name] = rng.choice(
                (self.text(), self.text(), None, 5, 503, True, {"a": self.text()}, [self.text()])
            )
        if rng.random() < 0.8:
            members["error"] = self.text() or "x"
        elif rng.random() < 0.5:
            members["error"] = rng.choice((None, 5, ["x"], {"error": "stale view"}))
        if rng.random() < 0.4:
            members["http_status"] = rng.choice((503, 429, 400, None, "503", 409.0))
        if rng.random() < 0.4:
            members["code"] = rng.choice((self.text(), "conflict", None, 7))
        text = json.dumps(members, indent=rng.choice((None, 2)), ensure_ascii=rng.random() < 0.5)
        ends = (text,) * 12 + (text[:-1], text + "\n", f"[{text}]", f" \n{text} \t", text + "x")
        return rng.choice((*ends, "\ufeff" + text, f'"{members.get("error")}"'))

    def outputs(self, count: int) -> Iterator[tuple[int, str, str]]:
        """Exit codes with what was printed on stdout and stderr."""
        rng = self.rng
        for _ in range(count):
            if rng.random() < 0.5:
                yield rng.choice(CODES), rng.choice(("", self.object())), self.text()
            else:
                yield rng.choice(CODES), self.object(), rng.choice(BLANK)

    def answers(self, count: int) -> Iterator[tuple[int, str]]:
        """Statuses with their message."""
        rng = self.rng
        for _ in range(count):
            yield rng.choice(STATUSES), self.object() if rng.random() < 0.1 else self.text()

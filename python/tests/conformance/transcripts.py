"""The contract's cases, call by call, as the plugin must answer them."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any, Protocol

FILE = Path(__file__).parents[3] / "abi" / "transcripts" / "transcripts.jsonl.gz"

Exchange = dict[str, Any]
"""One line of the file."""


class Plugin(Protocol):
    """The plugin as a host calls it."""

    def call(self, export: str, data: bytes, host: Any = None) -> bytes: ...


def load() -> list[Exchange]:
    """All exchanges, in their order."""
    with gzip.open(FILE, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def replay(plugin: Plugin, exchange: Exchange) -> list[str]:
    """Make the call again, and say what is not as it was."""
    data = base64.b64decode(exchange.get("input_base64", "")) or exchange.get("input", "").encode()
    host = _Host(exchange.get("calls", []))
    answer = plugin.call(exchange["export"], data, host)
    problems = [*host.problems, *differences("answer", exchange["output"], answer)]
    if host.left:
        problems.append(f"{host.left[0]['function']} is not called")
    return problems


class _Host:
    """Answers the host functions as they were answered."""

    def __init__(self, calls: list[dict[str, str]]) -> None:
        self.left = list(calls)
        self.problems: list[str] = []

    def now(self) -> bytes:
        return self._answer("outlast_now", b"")

    def sleep(self, action: bytes) -> bytes:
        return self._answer("outlast_sleep", action)

    def attempt(self, action: bytes) -> bytes:
        return self._answer("outlast_attempt", action)

    def _answer(self, function: str, action: bytes) -> bytes:
        call = self.left.pop(0) if self.left else {"function": "nothing"}
        if call["function"] != function:
            self.problems.append(f"{function} is called, and not {call['function']}")
            return b""
        if call["input"]:
            self.problems += differences(function, call["input"], action)
        return call["answer"].encode()


def differences(path: str, want: str, got: bytes) -> list[str]:
    """Where an answer lacks what is wanted. It may have members that are new."""
    return list(_lacks(path, json.loads(want), json.loads(got)))


def _lacks(path: str, want: Any, got: Any) -> Any:
    if isinstance(want, dict) and isinstance(got, dict):
        for name, value in want.items():
            yield from _lacks(f"{path}.{name}", value, got.get(name))
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, value in enumerate(want):
            yield from _lacks(f"{path}[{i}]", value, got[i])
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield f"{path}: want {json.dumps(want)}, got {json.dumps(got)}"

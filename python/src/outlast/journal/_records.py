"""The lines of a journal's record, and what they come to."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1
"""Of the format. A file of a newer one is refused."""

MAX_FILE = 4 << 20
"""The most that is read of a record, in bytes (a choice)."""

State = Literal["in_doubt", "applied", "not_applied"]


@dataclass(frozen=True)
class Earlier:
    """What a run printed that has applied the write already.

    Attributes:
        stdout: Its standard output, up to 64 KiB.
        stderr: Its standard error, up to 64 KiB.
        cut: There was more of one of them.
        exit_code: Its exit code, if it was a process.
        ended: When it ended, in UTC.
    """

    stdout: bytes
    stderr: bytes
    cut: bool
    exit_code: int | None
    ended: str


KINDS = ("run", "attempt", "ended", "outcome", "settled")


def parse(text: bytes) -> list[dict[str, Any]]:
    """The records without a torn last one. ValueError: damage."""
    if len(text) > MAX_FILE:
        raise ValueError("it is too long")
    records: list[dict[str, Any]] = []
    good = 0
    while (end := text.find(b"\n", good)) >= 0:
        record = json.loads(text[good:end])
        kind = record.get("record") if isinstance(record, dict) else None
        known = kind in KINDS and (records or kind == "run")
        if kind == "run":
            known = known and 1 <= record.get("v", 0) <= VERSION
        if kind == "settled":
            known = known and isinstance(record.get("applied"), bool)
        if not known:
            raise ValueError(f"line {len(records) + 1} is no record that is known here")
        records.append(record)
        good = end + 1
    return records


def state_of(records: list[dict[str, Any]]) -> State:
    """What the records come to, as Go's journal has it."""
    before, applied = False, False
    run: dict[int, bool] = {}
    for r in records:
        match r["record"]:
            case "run":
                before, run = before or any(run.values()), {}
            case "attempt":
                run[r.get("attempt", 0)], applied = True, False
            case "ended":
                run[r.get("attempt", 0)] = r.get("effects") != "none"
            case "outcome" if r.get("outcome") == "ok":
                applied, before, run = True, False, {}
            case "outcome" if r.get("effects") == "none":
                run = {}
            case "outcome":
                run[0] = True
            case _:
                applied, before, run = r["applied"], False, {}
    if before or any(run.values()):
        return "in_doubt"
    return "applied" if applied else "not_applied"


def earlier_of(records: list[dict[str, Any]]) -> Earlier:
    last = records[-1]
    out = [last.get(name) or {} for name in ("stdout", "stderr")]
    texts = [
        base64.b64decode(o["base64"]) if "base64" in o else o.get("text", "").encode() for o in out
    ]
    cut = any(o.get("cut", False) for o in out)
    return Earlier(texts[0], texts[1], cut, last.get("exit_code"), last.get("time", ""))


def digest(*parts: str) -> str:
    h = hashlib.sha256()
    for part in parts:
        text = os.fsencode(part)
        h.update(len(text).to_bytes(8, "big") + text)
    return h.hexdigest()[:32]

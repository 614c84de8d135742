"""The cases that come with the contract, made whole."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[3] / "abi" / "vectors"

DOORS = ("decide", "run", "first", "resumed")


@dataclass(frozen=True)
class Case:
    """One case. Its members are as in its file, with names put in place."""

    file: str
    members: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.members["name"])

    @property
    def steps(self) -> list[dict[str, Any]]:
        return list(self.members.get("steps", ()))

    @property
    def outage(self) -> dict[str, Any] | None:
        return self.members.get("outage")

    @property
    def doors(self) -> tuple[str, ...]:
        default = ("decide", "run") if self.outage is not None else DOORS
        return tuple(self.members.get("doors") or default)

    @property
    def clock(self) -> int:
        return int(self.members.get("clock_us", 0))

    @property
    def request(self) -> dict[str, Any]:
        """A request without anything that has happened yet."""
        return {"policy": self.members.get("policy"), "call": self.members.get("call")}

    @property
    def raw(self) -> bytes:
        """What the export is called with."""
        members = self.members
        if "raw" in members:
            return str(members["raw"]).encode()
        if members.get("raw_base64"):
            return base64.b64decode(members["raw_base64"])
        parts = (p["text"] * max(1, p.get("times", 0)) for p in members.get("raw_parts", ()))
        text = "".join(parts).encode()
        if "input" in members:
            text += json.dumps(members["input"], ensure_ascii=False).encode()
        return text


def load(folder: Path = VECTORS) -> list[Case]:
    """All cases, by file and in order."""
    results: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    cases = []
    for path in sorted(folder.glob("*.json")):
        file = json.loads(path.read_text("utf-8"))
        for named, more in ((results, "results"), (policies, "policies")):
            for name, value in file.get(more, {}).items():
                assert name not in named, f"{path.name}: {name!r} is there twice"
                named[name] = value
        cases += [Case(path.stem, members) for members in file.get("cases", ())]
    names = set()
    for case in cases:
        assert case.name not in names, f"{case.file}: {case.name!r} is there twice"
        names.add(case.name)
        _finish(case, results, policies)
    return cases


def _finish(case: Case, results: dict[str, Any], policies: dict[str, Any]) -> None:
    members = case.members
    assert sum(key in members for key in ("steps", "outage", "export")) == 1, case.name
    _resolve(members, "policy", policies)
    for key in ("down", "up"):
        _resolve(members.get("outage", {}), key, results)
    for step in members.get("steps", ()):
        events = [
            k for k in ("attempt", "repair", "woken", "down", "cancelled", "broken") if k in step
        ]
        assert len(events) == 1, f"{case.name}: a step needs one event"
        assert ("want" in step) != ("want_error" in step), case.name
        for key in ("attempt", "repair", "cancelled"):
            _resolve(step, key, results)


def _resolve(members: dict[str, Any], key: str, named: dict[str, Any]) -> None:
    """Put the named value in a reference's place, if it is one."""
    if isinstance(members.get(key), str) and members[key] in named:
        members[key] = named[members[key]]

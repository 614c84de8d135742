"""What is sent and what comes back is as the contract's schemas have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from conftest import REFUSED
from fakes import Failing
from outlast import Call, Policy, Result
from outlast.testing import VirtualClock

FOLDER = Path(__file__).parents[3] / "abi" / "schema"
SCHEMAS = {path.name: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}


def validator(name: str) -> Draft202012Validator:
    resources = [(s["$id"], Resource.from_contents(s)) for s in SCHEMAS.values()]
    resources += [(n, Resource.from_contents(s)) for n, s in SCHEMAS.items()]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(SCHEMAS[name], registry=registry)


class Watched(Failing):
    """Keeps what is sent and what comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, Any, Any]] = []

    def new_instance(self) -> Any:
        return _Watched(self, super().new_instance())


class _Watched:
    def __init__(self, plugin: Watched, instance: Any) -> None:
        self._plugin = plugin
        self._instance = instance

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        answer: bytes = self._instance.call(export, data, host)
        self._plugin.sent.append((export, json.loads(data or b"null"), json.loads(answer)))
        return answer

    def close(self) -> None:
        self._instance.close()


@pytest.mark.parametrize("drive", ["run", "run_in_plugin"])
def test_all_that_crosses_the_boundary(drive: str, clock: VirtualClock) -> None:
    plugin = Watched()
    policy = Policy("omnigraph", plugin=plugin)
    results = [
        Result(exit_code=1, stderr=REFUSED + b"\xff" * 70_000, retry_after=1.5),
        Result(http_status=429, message="busy", retry_after=float("inf")),
        Result(exit_code=1, stderr=REFUSED, sent="no", streamed=False, timed_out=True),
        Result(signal="SIGKILL", stdout="é\ud800"),
    ]
    for call in (
        Call(remote=True, write=False, budget=500.0, label="é", started=0.0),
        Call(remote=False, write=True, surface_conflict=True, connect_retry=False),
    ):
        for start in range(len(results)):
            left = iter([*results[start:], *[results[-1]] * 50])
            getattr(policy, drive)(left.__next__, call, seed=2**53 - 1)
    assert len(plugin.sent) > 5
    names = {"decide": "decide", "run": "run"}
    for export, request, answer in plugin.sent:
        validator(f"{names[export]}-request.json").validate(request)
        validator(f"{names[export]}-answer.json").validate(answer)

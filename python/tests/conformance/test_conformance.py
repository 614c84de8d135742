"""The contract's cases, all of them, through every door that they have."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from outlast._plugin.plugin import Plugin

from .transcripts import Exchange, load, replay

EXCHANGES = load()
CASES = {
    name: list(exchanges)
    for name, exchanges in groupby(EXCHANGES, lambda each: f"{each['case']} {each['door']}")
}


class OneInstance:
    """Calls one instance, as a host without a pool does."""

    def __init__(self) -> None:
        self._instance = Plugin().new_instance()

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        return self._instance.call(export, data, host)


@pytest.fixture(scope="module")
def plugin() -> OneInstance:
    return OneInstance()


@pytest.mark.parametrize("case", CASES)
def test_conformance(plugin: OneInstance, case: str, record_property: Any) -> None:
    record_property("conformance", case)
    for exchange in CASES[case]:
        assert not replay(plugin, exchange)


def test_there_are_cases() -> None:
    assert len(CASES) > 1000


@pytest.mark.parametrize("door", ["decide", "run", "first", "resumed"])
def test_a_difference_is_noticed(plugin: OneInstance, door: str) -> None:
    delayed = [e for e in EXCHANGES if e["door"] == door and '"delay_us":5' in whole(e)]
    assert len(delayed) > 20
    for exchange in delayed[:20]:
        calls = [
            {**call, "input": call["input"].replace('"delay_us":5', '"delay_us":6')}
            for call in exchange.get("calls", [])
        ]
        output = exchange["output"].replace('"delay_us":5', '"delay_us":6')
        assert replay(plugin, {**exchange, "calls": calls, "output": output})


def whole(exchange: Exchange) -> str:
    """All that the plugin says in an exchange."""
    return "".join([exchange["output"], *(call["input"] for call in exchange.get("calls", []))])

"""The contract's cases, all of them, through every door that they have."""

from __future__ import annotations

from typing import Any

import pytest

from outlast._plugin import Plugin

from .cases import Case, load
from .doors import check

CASES = load()


class OneInstance:
    """Calls one instance, as a host without a pool does."""

    def __init__(self) -> None:
        self._instance = Plugin().new_instance()

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        return self._instance.call(export, data, host)


@pytest.fixture(scope="module")
def plugin() -> OneInstance:
    return OneInstance()


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file}/{c.name}" for c in CASES])
def test_conformance(plugin: OneInstance, case: Case, record_property: Any) -> None:
    record_property("conformance", case.name)
    problems = check(plugin, case)
    assert not problems, "\n".join([*problems, str(case.members.get("why"))])


def test_there_are_cases() -> None:
    assert len(CASES) > 200

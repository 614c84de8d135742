"""Each client against each fault, as a read and as a write: how often it was applied,
how the call ended, and whether it rode the fault out. The page has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import outlast
from httpxes import HTTPX
from outlast import Policy

from .clients import CLIENTS, AsyncAsk, result_of
from .faults import FAULTS, Fault, World
from .servers import certificate, quick

PAGE = Path(__file__).parents[3] / "docs" / "evidence.md"

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificate")


def awaited(ask: Any, what: Callable[[], Any]) -> Any:
    """What a function gives, in the event loop of its client if it has one."""
    if isinstance(ask, AsyncAsk):
        return ask.loop.run_until_complete(what())
    return what()


def case(client: str, fault: Fault, write: bool, made: Path) -> str:
    """How a call ends, and what was applied."""
    two = client.endswith(" h2")
    trusted, tls = certificate(made, two)
    world = World(tls, two)
    with world.stack, CLIENTS[client](trusted if fault.trusted else "", fault.again) as ask:
        fault.make(world)
        if fault.warm:
            awaited(ask, lambda: ask(world.urls[0], False))
        before = world.applied
        attempts: list[str] = []

        @outlast.retry(remote=True, write=write, policy=Policy(quick()), result_of=result_of)
        def call() -> Any:
            attempts.append(world.urls[0])
            if len(attempts) == 3:
                for back in world.returns:
                    back()
            return ask(world.urls[0] if len(world.urls) == 1 else world.urls.pop(0), write)

        for begin in world.begins:
            begin()
        try:
            awaited(ask, call)
            ended = "ok" if len(attempts) == 1 else "rode out"
        except outlast.CallError as e:
            ended = e.outcome.type + (", no effects" if e.outcome.effects == "none" else "")
        except Exception as e:  # that is known as no failure of a request
            ended = f"raises {type(e).__name__}"
        applied = world.applied - before
    return f"{ended}; applied {applied}" if write else ended


def results(client: str, made: Path) -> dict[tuple[str, bool], str]:
    cases = [
        (fault, write)
        for fault in FAULTS
        for write in (False, True)
        if client in (fault.only or CLIENTS)
    ]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda each: case(client, each[0], each[1], made), cases)
        names = [(fault.name, write) for fault, write in cases]
        return dict(zip(names, found, strict=True))


def cell(found: dict[str, dict[tuple[str, bool], str]], fault: Fault, write: bool) -> str:
    """What most clients do, and then what others do."""
    each = {
        name: got[fault.name, write] for name, got in found.items() if (fault.name, write) in got
    }
    usual = Counter(each.values()).most_common(1)[0][0]
    others = [f"{name}: {what}" for name, what in each.items() if what != usual]
    return " · ".join([usual, *others])


def test_the_table(made: Path) -> None:
    certificate(made)
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(CLIENTS, pool.map(lambda name: results(name, made), CLIENTS), strict=True))
    rows = [
        f"| {fault.name} | {cell(found, fault, False)} | {cell(found, fault, True)} |"
        for fault in FAULTS
    ]
    print("\n".join(rows))
    for got in found.values():
        for (_, write), what in got.items():
            assert not write or what.endswith(("applied 0", "applied 1"))
            assert "no effects; applied 1" not in what
            assert not what.startswith(("ok; applied 0", "rode out; applied 0"))
    _, _, page = PAGE.read_text("utf-8").partition("<!-- python -->\n")
    table, _, _ = page.partition("<!-- end of python -->")
    if "httpx2" in HTTPX:  # which the page tells of
        assert table.splitlines()[2:] == rows

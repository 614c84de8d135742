"""Each transport against each fault, as a read, as a write, and as a write that may be
repeated: what the server applied, and what the caller got. The page has the table.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import outlast
from evidence.faults import FAULTS, NO_ROUTE, Fault, World
from evidence.servers import certificate, quick
from httpxes import HTTPX
from outlast import events as e
from outlast._time import clock as clocks
from outlast.testing import VirtualClock

from .kinds import CLIENTS

PAGE = Path(__file__).parents[3] / "docs" / "http-clients.md"

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients

OTHERS = ("no route", "no such name", "the client tries again by itself")
"""Faults of attempts that go elsewhere each time, or of a client that a transport is not for."""

HERE = [fault for fault in FAULTS if fault.name not in OTHERS] + [
    Fault("no route", lambda w: w.urls.append(f"http://{NO_ROUTE}:9/")),
    Fault("no such name", lambda w: w.urls.append(f"http://{NO_NAME}/")),
]

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("GET", {}),
    "write": ("POST", {}),
    "write with a key": ("POST", {"Idempotency-Key": "tag-1"}),
}


NO_NAME = "nosuch.invalid"

LOOKED_AT = "accepted, and closed at once"
"""A fault that only a second look can tell from others, which takes real time."""


@contextmanager
def real_time() -> Iterator[None]:
    virtual = clocks.replace(None)
    try:
        yield
    finally:
        clocks.replace(virtual)


def case(opened: Any, fault: Fault, kind: str, made: Path, two: bool) -> str:
    """What the caller gets, after how many attempts, and how often it was applied."""
    trusted, tls = certificate(made, two)
    world = World(tls, two)
    method, headers = KINDS[kind]
    attempts: list[int] = []

    def told(event: e.Event) -> None:
        if isinstance(event, e.AttemptEnded):
            attempts.append(event.attempt)
            if event.attempt == 2:
                for back in world.returns:
                    back()

    options: dict[str, Any] = {"two": True} if two else {}
    options.update(observe=told, honours_key=True)
    if fault.name == LOOKED_AT:
        options["policy"] = outlast.Policy(quick())
        world.stack.enter_context(real_time())
    with world.stack, opened(trusted if fault.trusted else "", **options) as ask:
        fault.make(world)
        if fault.warm:
            ask("GET", world.urls[0])
        before, attempts[:] = world.applied, []
        for begin in world.begins:
            begin()
        body = None if kind == "read" else b"x"
        try:
            got = ask(method, world.urls[0], body, headers)
            ended = str(got.status)
        except Exception as error:
            outcome = outlast.outcome_of(error)
            ended = f"{outcome.type}" if outcome else "raises its own"
        applied = world.applied - before
    if ended == "200" and len(attempts) > 1:
        ended = "rode out"
    return ended if kind == "read" else f"{ended}; applied {applied}"


def results(client: str, made: Path) -> dict[tuple[str, str], str]:
    name, two = client.removesuffix(" h2"), client.endswith(" h2")
    opened = CLIENTS[name]
    return {
        (fault.name, kind): case(opened, fault, kind, made, two)
        for fault in HERE
        if client in (fault.only or ALL)
        for kind in KINDS
    }


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers at once that there is no such name. A server of names that is asked as often as
    attempts follow each other here leaves some unanswered, and each of these takes 5 s.
    """
    asks = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **named: Any) -> Any:
        if host in (NO_NAME, NO_NAME.encode()):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return asks(host, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


ALL = (*CLIENTS, *(f"{name} h2" for name in HTTPX))


def cell(found: dict[str, dict[tuple[str, str], str]], name: str, kind: str) -> str:
    """What most clients do, and then what others do."""
    each = {client: got[name, kind] for client, got in found.items() if (name, kind) in got}
    usual = Counter(each.values()).most_common(1)[0][0]
    others = [f"{client}: {what}" for client, what in each.items() if what != usual]
    return " · ".join([usual, *others])


def test_the_table(
    tmp_path: Path, clock: VirtualClock, events: list[e.Event], resolver: None
) -> None:
    found = {client: results(client, tmp_path) for client in ALL}
    rows = [
        f"| {fault.name} | " + " | ".join(cell(found, fault.name, kind) for kind in KINDS) + " |"
        for fault in HERE
    ]
    print("\n".join(rows))
    for got in found.values():
        for (_, kind), what in got.items():
            assert kind != "write" or what.endswith(("applied 0", "applied 1"))
            assert not what.startswith(("200; applied 0", "rode out; applied 0"))
    _, _, page = PAGE.read_text("utf-8").partition("<!-- transports of python -->\n")
    table, _, _ = page.partition("<!-- end of transports of python -->")
    if "httpx2" in HTTPX:  # which the page tells of
        assert table.splitlines()[2:] == rows

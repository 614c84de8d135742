"""Each known release through its client: what fails, and how the call goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from differential.scenario import QUARANTINED, REFUSED, Failure
from differential.test_loops import assert_same, sleeps
from differential.world import World, in_world, observe, transport
from outlast import witan
from witan.releases import Release
from witan.test_calls import scenario

pytestmark = pytest.mark.usefixtures("uninstalled", "loaded", "quiet")

QUERIES = """
query everybody() { match { $p: Person } return { $p.name } }
query add($name: String) { insert Person { name: $name } }
"""
ADD = ("q.gq", "add", {"name": "ada"})
ANSWER = json.dumps({"rows": [], "columns": [], "commit": {"graph_commit_id": "c1"}})

READS: dict[str, Callable[[Any], Any]] = {
    "read": lambda client: client.read("q.gq", "everybody", {}),
    "read_with_commit": lambda client: client.read_with_commit("q.gq", "everybody", {}),
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "change": lambda client: client.change(*ADD),
    "change_many": lambda client: client.change_many([ADD, ADD]),
}
CLAIMS: dict[str, Callable[[Any], Any]] = {
    "claim": lambda client: client.change(*ADD, surface_conflict=True),
}
VERBS = READS | WRITES | CLAIMS


def answer(status: int, text: str, code: str, **more: Any) -> Failure:
    """What a server says of a failure."""
    body = json.dumps({"error": text, "code": code})
    return Failure("", 0, 0.5, status=status, body=body, **{"stamp": "0.13", **more})


@dataclass(frozen=True)
class Case:
    """A failure that happens twice, and what comes of it.

    Attributes:
        failure: How each of the attempts fails.
        reads: How many attempts a read makes; 3: it succeeds in the end.
        writes: The same of a write.
        claims: The same of a write that wants to see a lost race.
    """

    failure: Failure
    reads: int
    writes: int
    claims: int


HTTP = {
    "refused": Case(Failure("", 0, 0.5, status=0), 3, 3, 3),
    "broken": Case(Failure("", 0, 0.5, status=-1), 3, 1, 1),
    "loading": Case(
        answer(503, "graph is loading; wait for its startup attempt", "graph_unavailable"), 3, 3, 3
    ),
    "closing": Case(answer(503, "server is shutting down", "service_unavailable"), 3, 3, 3),
    "blocked": Case(
        answer(503, "graph is unavailable; an operator must apply a correction", "x"), 1, 1, 1
    ),
    "cap": Case(answer(429, "actor in-flight count cap exceeded", "too_many_requests"), 3, 3, 3),
    "cap, told when": Case(
        answer(429, "too many requests", "too_many_requests", retry_after="2"), 3, 3, 3
    ),
    "conflict": Case(answer(409, "stale view; refresh and retry", "conflict"), 3, 3, 1),
    "precondition": Case(answer(412, "graph commit no longer current", "precondition"), 1, 1, 1),
    "recovery": Case(answer(503, "recovery required for operation 01", "x"), 3, 1, 1),
    "quarantined": Case(answer(409, QUARANTINED, "conflict"), 1, 1, 1),
    "another contract": Case(answer(503, "graph is loading", "x", stamp="0.12"), 1, 1, 1),
    "a proxy's": Case(answer(502, "Bad Gateway", "", stamp=""), 1, 1, 1),
    "bad request": Case(answer(400, "no such query", "bad_request"), 1, 1, 1),
}

COMMAND_LINE = {
    "refused": Case(Failure("", 0, 0.5, stderr=REFUSED), 3, 3, 3),
    "broken": Case(Failure("", 0, 0.5, stderr="connection closed before message"), 1, 1, 1),
    "cap": Case(Failure("", 0, 0.5, stderr="actor in-flight count cap 16 exceeded"), 3, 3, 3),
    "conflict": Case(Failure("", 0, 0.5, stderr="stale view; refresh and retry"), 3, 3, 1),
}


def attempts(case: Case, verb: str) -> int:
    return case.reads if verb in READS else case.claims if verb in CLAIMS else case.writes


@pytest.mark.parametrize("name", HTTP)
def test_over_http(each_with_http: Release, tmp_path: Path, name: str) -> None:
    case = HTTP[name]
    oracle = {verb: over_http(each_with_http, tmp_path, case.failure, verb) for verb in VERBS}
    with each_with_http.importable():
        witan.install()
    for verb, theirs in oracle.items():
        installed = over_http(each_with_http, tmp_path, case.failure, verb, sleeps(theirs))
        assert_same(theirs, installed)
        assert installed.attempts == attempts(case, verb), verb
        assert (installed.steps[-1].what == "ok") == (installed.attempts == 3), verb


def over_http(
    release: Release,
    folder: Path,
    failure: Failure,
    verb: str,
    replayed: list[float] | None = None,
) -> World:
    """A call of the client that fails twice over HTTP."""
    what = scenario(http=True, write=verb not in READS, failures=(failure, failure))
    world = World(what, True, replayed, ANSWER)
    (folder / "q.gq").write_text(QUERIES)
    with in_world(release, world):
        client = release.omnigraph.OmnigraphClient(
            "http://graph.example:8080", folder, graph_id="people"
        )
        pooled = transport(release, world)
        client._http_transport = lambda **_options: pooled
        try:
            VERBS[verb](client)
        except RuntimeError as e:
            world.note("raise", error=e)
        else:
            world.note("ok")
    return world


@pytest.mark.parametrize("claim", [False, True])
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("name", COMMAND_LINE)
def test_over_the_command_line(each: Release, name: str, write: bool, claim: bool) -> None:
    case = COMMAND_LINE[name]
    what = scenario(
        write=write, surface_conflict=write and claim, failures=(case.failure, case.failure)
    )
    oracle = observe(each, what)
    with each.importable():
        witan.install()
    installed = observe(each, what, sleeps(oracle))
    assert_same(oracle, installed)
    verb = "read" if not write else "claim" if claim else "change"
    assert installed.attempts == attempts(case, verb)
    assert (installed.steps[-1].what == "ok") == (installed.attempts == 3)


def test_a_server_that_stays_away(each: Release, tmp_path: Path) -> None:
    """The call ends with witan-core's own exception, after its whole window."""
    what = scenario(http=each.http is not None, lasting=True, failures=(HTTP["refused"].failure,))
    if each.http is None:
        what = scenario(REFUSED, lasting=True)
    with each.importable():
        witan.install()
    world = observe(each, what)
    error = world.steps[-1].error
    assert type(error) is getattr(each.omnigraph, "StoreUnavailable", RuntimeError)
    assert "could not connect to http://graph.example:8080" in str(error)
    assert world.monotonic() - what.began >= each.omnigraph._UNAVAILABLE_MAX_WAIT

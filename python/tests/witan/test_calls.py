"""Calls through witan-core's client: what they raise, and whom they tell."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import outlast
from differential.scenario import Failure, Scenario
from differential.world import World, in_world, observe, replaced
from outlast import Plugin, PluginError, witan
from outlast._plugin.plugin import default_plugin
from outlast.events import Event
from witan.releases import Release

pytestmark = pytest.mark.usefixtures("uninstalled", "loaded")

REFUSED = "tcp connect error"


def scenario(*failures: str, lasting: bool = False, **changes: Any) -> Scenario:
    """A remote call of the command line that fails so."""
    made: dict[str, Any] = {
        "seed": 0,
        "http": False,
        "remote": True,
        "write": True,
        "surface_conflict": False,
        "connect_retry": True,
        "hint": False,
        "budget": 0.0,
        "tick": 2.0**-6,
        "failures": tuple(Failure("", 0, 0.0, stderr=text) for text in failures),
        "lasting": lasting,
    }
    return Scenario(**{**made, **changes})


def call(release: Release, what: Scenario) -> World:
    with release.importable():
        witan.install()
    return observe(release, what)


def error_of(world: World) -> Any:
    error = world.steps[-1].error
    assert error is not None
    return error


def test_an_exception_has_the_outcome(release: Release) -> None:
    error = error_of(call(release, scenario(REFUSED, lasting=True)))
    outcome = outlast.outcome_of(error)
    assert outcome is not None and outcome.result is not None
    assert (outcome.type, outcome.budget, outcome.budget_spent) == ("exhausted", "unavailable", 150)
    assert outcome.result.stderr == REFUSED
    assert "could not connect to http://graph.example:8080" in str(error)
    assert error.__cause__ is None and error.__suppress_context__


def test_a_quarantined_store_is_named(latest: Release) -> None:
    text = "OCC recovery sidecar '01M2' found, but its manifest delta differs"
    error = error_of(call(latest, scenario(text)))
    assert error.operation_id == "01M2"
    assert "01M2" in str(error) and latest.omnigraph.RUNBOOK_URL in str(error)


def test_hooks_are_told(release: Release, events: list[Event]) -> None:
    world = call(release, scenario(REFUSED, "run `omnigraph repair`"))
    assert world.steps[-1].what == "ok"
    kinds = [type(event).__name__ for event in events if type(event).__name__ != "Loaded"]
    assert kinds == [
        "AttemptEnded",
        "Waiting",
        "AttemptEnded",
        "Repairing",
        "AttemptEnded",
        "Stopped",
    ]
    assert {event.call.label for event in events} == {"mutate"}
    stopped = events[-1]
    assert isinstance(stopped, outlast.events.Stopped)
    assert stopped.outcome.ok and stopped.outcome.attempts == 3


def test_hooks_are_told_of_a_call_that_succeeds_at_once(
    release: Release, events: list[Event]
) -> None:
    call(release, scenario())
    assert [type(event).__name__ for event in events] == ["AttemptEnded", "Stopped"]


def test_a_token_reaches_no_hook(release: Release, events: list[Event]) -> None:
    what = scenario("policy denied for secret-token")
    with release.importable():
        witan.install()
    world = World(what, True)
    with in_world(release, world):
        client = release.omnigraph.OmnigraphClient(
            "http://graph.example:8080", None, graph_id="g", token="secret-token"
        )
        with pytest.raises(RuntimeError, match="secret-token"):
            client._execute(["omnigraph", "query"], "query", is_write=False)
    assert events
    assert "secret-token" not in repr(events)


def test_a_long_label_is_whole_in_messages(release: Release) -> None:
    label = "statement " * 100
    with release.importable():
        witan.install()
    world = World(scenario("policy denied"), True)
    with in_world(release, world):
        client = release.omnigraph.OmnigraphClient("http://h:1", None, graph_id="g")
        with pytest.raises(RuntimeError) as raised:
            client._execute(["omnigraph", "query"], label, is_write=False)
    assert f"omnigraph {label} failed (exit 1):\npolicy denied" in str(raised.value)


def test_a_command_that_cannot_run(release: Release) -> None:
    with release.importable():
        witan.install()
    world = World(scenario(), True)

    def missing(*_args: Any, **_options: Any) -> None:
        raise FileNotFoundError(2, "No such file", "omnigraph")

    with in_world(release, world):
        release.omnigraph.subprocess.run = missing
        client = release.omnigraph.OmnigraphClient("http://h:1", None, graph_id="g")
        with pytest.raises(RuntimeError, match="omnigraph query could not run") as raised:
            client._execute(["omnigraph", "query"], "query", is_write=False)
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def broken_plugin(times: int) -> Callable[..., Any]:
    """Answers nothing so many times."""
    ask, left = Plugin.ask, [times]

    def asked(self: Plugin, export: str, *args: Any) -> Any:
        if export == "decide" and left[0] > 0:
            left[0] -= 1
            raise PluginError("asking the plugin", "it is broken")
        return ask(self, export, *args)

    return asked


def test_a_plugin_that_fails_stops_the_call(release: Release) -> None:
    """The caller gets the failure itself, and an exception that it expects."""
    with replaced(Plugin, "ask", broken_plugin(10**9)):
        world = call(release, scenario(REFUSED, lasting=True))
    assert [step.what for step in world.steps] == ["attempt", "raise"]
    error = error_of(world)
    assert type(error) is RuntimeError
    assert str(error).startswith(f"omnigraph mutate failed (exit 1):\n{REFUSED}\n")
    assert "the policy could not be asked: outlast: asking the plugin: it is broken" in str(error)
    assert isinstance(error.__cause__, PluginError)


def test_a_success_stays_one_if_the_plugin_then_fails(oldest: Release) -> None:
    ask, answered = Plugin.ask, list[Any]()

    def answers_once(self: Plugin, export: str, *args: Any) -> Any:
        if answered:
            raise PluginError("asking the plugin", "it is broken")
        answer = ask(self, export, *args)
        if export == "decide":
            answered.append(answer)
        return answer

    with replaced(Plugin, "ask", answers_once):
        world = call(oldest, scenario(REFUSED))
    assert answered
    assert [step.what for step in world.steps] == ["attempt", "sleep", "attempt", "ok"]


@pytest.mark.parametrize("late", [-5.0, -1e-9, 0.0])
def test_a_deadline_that_is_over(latest: Release, late: float) -> None:
    """Such a call gets its first attempt, and no other, even without a delay."""
    traces = []
    for install in (False, True):
        if install:
            with latest.importable():
                witan.install()
        world = World(scenario("stale view", lasting=True), True)
        with in_world(latest, world):
            client = latest.omnigraph.OmnigraphClient("http://h:1", None, graph_id="g")

            def attempt(world: World = world) -> Any:
                world.attempted(world.begin(), None)
                return latest.omnigraph._AttemptResult("retryable", error="stale view", status=409)

            with pytest.raises(latest.omnigraph.WriteContention, match="lost 1 "):
                client._retry_loop(
                    attempt,
                    "mutate",
                    env={},
                    is_write=True,
                    surface_conflict=False,
                    deadline=world.monotonic() + late,
                )
        traces.append([(step.what, step.at) for step in world.steps])
    assert traces[0] == traces[1]


# A kind that somebody else has said: a transport of a caller's own, say.

FOREIGN = {
    "unavailable": "StoreUnavailable",
    "admission_cap": "AdmissionCapExceeded",
    "retryable": "WriteContention",
    "needs_repair": "RuntimeError",
    "precondition_failed": "RuntimeError",
    "recovery_required": "WriteIndeterminate",
    "store_quarantined": "StoreQuarantined",
    "full_text_rebuild_required": "RuntimeError",
    "contract_violation": "WriteIndeterminate",
    "fatal": "RuntimeError",
    "a kind of tomorrow": "RuntimeError",
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize(
    "error", ["", "down", "stale view; tcp connect error", "could not connect to x"]
)
@pytest.mark.parametrize("status", [None, 200, 503, 409])
def test_a_foreign_kind_counts(latest: Release, kind: str, error: str, status: int | None) -> None:
    traces = []
    for install in (False, True):
        if install:
            with latest.importable():
                witan.install()
        world = World(scenario("x", lasting=True), True)

        def attempt(world: World = world) -> Any:
            world.attempted(world.begin(), None)
            return latest.omnigraph._AttemptResult(kind, error=error, status=status)

        with in_world(latest, world):
            client = latest.omnigraph.OmnigraphClient("http://h:1", None, graph_id="g")
            with pytest.raises(Exception) as raised:
                client._with_retry_policy(attempt, "mutate", env={}, is_write=True)
        assert type(raised.value).__name__ == FOREIGN[kind]
        assert str(raised.value).endswith(error)
        traces.append([(step.what, step.at) for step in world.steps])
    assert traces[0] == traces[1]


def test_no_lock_is_held_during_an_attempt_or_a_sleep(release: Release) -> None:
    """Another thread makes a whole call while one is in the middle of its own."""
    inner: list[str] = []

    def one() -> None:
        inner.append(observe(release, scenario(REFUSED, "stale view")).steps[-1].what)

    class Meddling(World):
        def sleep(self, seconds: float) -> None:
            self.meddle()
            super().sleep(seconds)

        def run(self, command: list[str], **options: Any) -> Any:
            self.meddle()
            return super().run(command, **options)

        def meddle(self) -> None:
            plugin = default_plugin()
            thread = threading.Thread(target=plugin.ask, args=("describe", b""))
            thread.start()
            thread.join(30)
            assert not thread.is_alive(), "the plugin is locked"
            inner.append("asked")

    with release.importable():
        witan.install()
    world = Meddling(scenario(REFUSED, "run `omnigraph repair`", REFUSED), True)
    with in_world(release, world):
        client = release.omnigraph.OmnigraphClient("http://h:1", None, graph_id="g")
        assert client._execute(["omnigraph", "mutate"], "mutate", is_write=True) == "done"
    assert len(inner) == 7  # four attempts, a repair, two sleeps

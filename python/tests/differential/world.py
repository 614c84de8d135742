"""The world of one call of witan-core's: a clock, chance, and what fails."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from outlast import Result
from witan.releases import Release

from .scenario import Failure, Scenario

MICROSECOND = 1e-6


@dataclass(frozen=True)
class Step:
    """One thing that a loop did.

    Attributes:
        what: ``"attempt"``, ``"sleep"``, ``"repair"``, ``"ok"`` or ``"raise"``.
        delay: Of a sleep, in seconds.
        at: When it was over, in seconds.
        result: Of an attempt, as the policy gets it; ``None``: it succeeded.
        error: What was raised.
    """

    what: str
    at: float
    delay: float = 0.0
    result: Result | None = None
    error: BaseException | None = None


@dataclass
class World:
    """What a loop meets, and the trace that it leaves.

    Attributes:
        scenario: The call.
        stdout: Whether the loop looks at what a command prints there.
        replayed: The sleeps of another run. A sleep that is as long to the
            microsecond then takes just as long: else all clocks would part
            after the first.
        answer: The body of an HTTP answer that succeeds.
        steps: What has happened.
    """

    scenario: Scenario
    stdout: bool
    replayed: list[float] | None = None
    answer: str = "done"
    steps: list[Step] = field(default_factory=list)
    ticks: int = 0
    attempts: int = 0
    sleeps: int = 0

    def __post_init__(self) -> None:
        self.ticks = round(self.scenario.began / self.scenario.tick)

    def monotonic(self) -> float:
        return self.ticks * self.scenario.tick

    def sleep(self, seconds: float) -> None:
        """A sleep is never shorter than asked for; it ends at a tick."""
        took = seconds
        if self.replayed is not None and self.sleeps < len(self.replayed):
            before = self.replayed[self.sleeps]
            if close(seconds, before):
                took = before
        self.sleeps += 1
        self.ticks += math.ceil(Fraction(took) / Fraction(self.scenario.tick))
        self.note("sleep", delay=seconds)

    def uniform(self, low: float, high: float) -> float:
        """The chance of the last attempt's failure."""
        return low + (high - low) * self.failure(self.attempts).chance

    def note(self, what: str, **details: Any) -> None:
        self.steps.append(Step(what, self.monotonic(), **details))

    def failure(self, attempt: int) -> Failure:
        failures = self.scenario.failures
        return failures[min(attempt, len(failures)) - 1]

    def begin(self) -> Failure | None:
        """An attempt begins: how it will fail, or ``None``."""
        self.attempts += 1
        count = len(self.scenario.failures)
        if self.attempts > count and not (self.scenario.lasting and count):
            return None
        return self.failure(self.attempts)

    def attempted(self, failure: Failure | None, result: Result | None) -> None:
        """An attempt ends."""
        if failure is not None:
            self.ticks += failure.lasts
        self.note("attempt", result=result)

    def run(self, command: list[str], **_options: Any) -> Any:
        """``subprocess.run``."""
        if "repair" in command:
            self.ticks += 1
            self.note("repair")
            return SimpleNamespace(returncode=1, stdout="", stderr="cannot")
        failure = self.begin()
        if failure is None:
            self.attempted(None, None)
            return SimpleNamespace(returncode=0, stdout="done", stderr="")
        stdout = failure.stdout if self.stdout else ""
        result = Result.from_process(failure.returncode, stdout, failure.stderr)
        self.attempted(failure, result)
        return SimpleNamespace(
            returncode=failure.returncode, stdout=failure.stdout, stderr=failure.stderr
        )


class Connection:
    """What stands in for ``http.client.HTTPConnection``."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.failure: Failure | None = None

    def connect(self) -> None:
        self.failure = self.world.begin()
        if self.failure is not None:
            self.world.ticks += self.failure.lasts
            if self.failure.status == 0:
                raise ConnectionRefusedError(111, "Connection refused")

    def request(self, *_args: Any, **_options: Any) -> None:
        if self.failure is not None and self.failure.status == -1:
            raise ConnectionResetError(104, "Connection reset by peer")

    def getresponse(self) -> Any:
        failure = self.failure
        if failure is None:
            failure = Failure("", 0, 0.0, status=200, body=self.world.answer, stamp="0.13")
        return SimpleNamespace(
            status=failure.status,
            read=failure.body.encode,
            will_close=True,
            headers=SimpleNamespace(get_all=lambda _name: [failure.stamp] if failure.stamp else []),
            getheader=lambda _name: failure.retry_after,
        )

    def close(self) -> None:
        pass


def close(a: float, b: float) -> bool:
    """Whether two delays are equal to the microsecond. Floats of this size are
    exact to 1e-10.
    """
    return abs(a - b) <= MICROSECOND + 1e-10


def observe(release: Release, scenario: Scenario, replayed: list[float] | None = None) -> World:
    """Let a release make a call, and see what it did."""
    world = World(scenario, release.http is not None, replayed)
    with in_world(release, world):
        client = _client(release, scenario)
        verb = "mutate" if scenario.write else "query"
        try:
            if scenario.http:
                body = client._http_execute(
                    transport(release, world),
                    verb,
                    "source",
                    {},
                    verb,
                    surface_conflict=scenario.surface_conflict,
                )
            else:
                body = client._execute(
                    ["omnigraph", verb],
                    verb,
                    is_write=scenario.write,
                    surface_conflict=scenario.surface_conflict,
                )
        except Exception as e:
            world.note("raise", error=e)
        else:
            assert body == "done"
            world.note("ok")
    return world


def _client(release: Release, scenario: Scenario) -> Any:
    kind = release.omnigraph.OmnigraphClient
    if scenario.hint:
        kind = type("Client", (kind,), {"_STORAGE_MISMATCH_HINT": "Export it, and import it."})
    uri = "http://graph.example:8080" if scenario.remote else "s3://bucket/store"
    return kind(
        uri,
        None,
        graph_id="people" if scenario.remote else None,
        connect_retry=scenario.connect_retry,
    )


def transport(release: Release, world: World) -> Any:
    """A transport of the release's whose connections are of a world."""
    pooled: Any = release.http.PooledTransport

    class Transport(pooled):  # type: ignore[misc]
        def _new_connection(self) -> Connection:
            return Connection(world)

        def _send(self, *args: Any, **options: Any) -> Any:
            outcome = super()._send(*args, **options)
            result = None
            if outcome.kind != "ok":
                result = Result(
                    http_status=outcome.status,
                    message=outcome.error,
                    retry_after=outcome.retry_after,
                )
            world.note("attempt", result=result)
            return outcome

    return Transport("http://graph.example:8080")


@contextmanager
def in_world(release: Release, world: World) -> Iterator[None]:
    """Let a release's modules live in a world."""
    omnigraph, scenario = release.omnigraph, world.scenario
    time = SimpleNamespace(monotonic=world.monotonic, sleep=world.sleep)
    attributes = {
        "time": time,
        "random": SimpleNamespace(uniform=world.uniform),
        "subprocess": SimpleNamespace(run=world.run),
        "shutil": SimpleNamespace(which=lambda _name: "/usr/bin/omnigraph"),
        **scenario.constants,
    }
    if scenario.helper == "_jittered_backoff":
        attributes[scenario.helper] = lambda attempt, base, cap: min(attempt * base / 2, cap)
    elif scenario.helper:
        step = (0.03125, 0.375)[scenario.seed % 2]  # shorter and longer than they were
        attributes[scenario.helper] = lambda attempt: attempt * step
    if release.http is not None:
        attributes["_REMOTE_CALL_BUDGET"] = scenario.budget
    with ExitStack() as stack:
        for name, value in attributes.items():
            stack.enter_context(replaced(omnigraph, name, value))
        if release.http is not None:
            stack.enter_context(replaced(release.http, "time", time))
        yield


@contextmanager
def replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute of a module for a while."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)

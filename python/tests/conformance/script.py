"""Hosts that play a case."""

from __future__ import annotations

import json
from typing import Any

from .cases import Case
from .compare import decoded, differences, state_problems

FIRST_ACTION: dict[str, Any] = {"type": "retry", "attempt": 1, "delay_us": 0}
"""What asks for a call's first attempt."""

Step = dict[str, Any]


def cuts_short(step: Step) -> bool:
    """Whether the step's event comes in a wait, if there is one."""
    return bool(step.get("woken")) or step.get("cancelled") is True


def with_random(step: Step, members: dict[str, Any]) -> dict[str, Any]:
    if "random" in step:
        members["random"] = step["random"]
    return members


def event_of(step: Step, now: int) -> dict[str, Any]:
    """The step's event, seen at a time."""
    if "attempt" in step:
        event = {"type": "attempted", "now_us": now, "result": step["attempt"]}
        return with_random(step, event)
    if "repair" in step:
        return with_random(step, {"type": "repaired", "now_us": now, "result": step["repair"]})
    if step.get("woken"):
        return with_random(step, {"type": "woken", "now_us": now, "by": step["woken"]})
    if step.get("down"):
        return with_random(step, {"type": "down", "now_us": now})
    if cuts_short(step):
        return {"type": "cancelled", "now_us": now}
    return {"type": "cancelled", "now_us": now, "result": step["cancelled"]}


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


class Silent:
    """A host that fails."""

    def now(self) -> bytes:
        return b""

    def sleep(self, action: bytes) -> bytes:
        return b""

    def attempt(self, action: bytes) -> bytes:
        return b""

    def failed(self, error: BaseException) -> None:
        raise AssertionError(f"the host raised {error!r}") from error


class Dying(Silent):
    """A host whose plugin is lost in the first host call after an event: the event
    of the request, or the one that it answers to an attempt.
    """

    def __init__(self, event: dict[str, Any] | None = None) -> None:
        self._event = event
        self.asked: dict[str, Any] | None = None
        self.action: dict[str, Any] | None = None

    def sleep(self, action: bytes) -> bytes:
        return self._keep(action)

    def attempt(self, action: bytes) -> bytes:
        if self._event is not None:
            event, self._event = self._event, None
            self.asked = decoded(action)
            return dumped(event)
        return self._keep(action)

    def _keep(self, action: bytes) -> bytes:
        if self.action is None:
            self.action = decoded(action)
        return b""


class Script(Silent):
    """A host that plays a case's steps. It compares each action that it is given
    with what the step before wants, and after the last step answers nothing,
    which ends the loop.
    """

    def __init__(self, case: Case, first: int = 0, now: int | None = None) -> None:
        self.steps = case.steps
        self.next = first
        self.clock = case.clock if now is None else now
        self.pending = 0
        self.want: dict[str, Any] | None = (
            FIRST_ACTION if first == 0 else self.steps[first - 1].get("want")
        )
        self.states = False
        self.problems: list[str] = []

    def now(self) -> bytes:
        broken = self._broken("outlast_now")
        return dumped({"now_us": self.clock}) if broken is None else broken

    def sleep(self, action: bytes) -> bytes:
        self.compare(action)
        asked = decoded(action)
        if asked.get("delay_us", 0) <= 0:
            self.problems.append("asked to sleep without a delay")
            return b""
        self.pending = asked["delay_us"]
        broken = self._broken("outlast_sleep")
        if broken is not None:
            return broken
        if self.next == len(self.steps):
            return b""
        step = self.steps[self.next]
        if step.get("down"):
            self.clock += self._wait(step)
            self.pending = 0
            self._play()
            return dumped(with_random(step, {"wait": "down", "now_us": self.clock}))
        if not cuts_short(step):
            self.clock += self._wait(step)
            return dumped({"wait": "full", "now_us": self.clock})
        self.pending = 0
        self.clock += step.get("after_us", 0)
        self._play()
        if not step.get("woken"):
            return dumped({"wait": "cancelled", "now_us": self.clock})
        woken = {"wait": "woken", "by": step["woken"], "now_us": self.clock}
        return dumped(with_random(step, woken))

    def attempt(self, action: bytes) -> bytes:
        self.compare(action)
        broken = self._broken("outlast_attempt")
        if broken is not None:
            return broken
        if self.next == len(self.steps):
            return b""
        step = self.steps[self.next]
        if cuts_short(step):
            self.clock += step.get("after_us", 0)
        elif self.pending == 0:
            self.clock += self._wait(step)  # there was no wait, yet the clock may have moved
        event = self._event(step)
        self._play()
        return dumped(event)

    def first_event(self) -> dict[str, Any]:
        """Play the next step without the plugin."""
        step = self.steps[self.next]
        self.clock += step.get("after_us", 0) if cuts_short(step) else self._wait(step)
        event = self._event(step)
        self._play()
        return event

    def compare(self, text: bytes) -> None:
        """Check an action against the one that is due."""
        action = decoded(text)
        state = action.pop("state", "")
        if self.want is None:
            self.problems.append(f"after step {self.next}: an action, where an error is due")
            return
        self.problems += differences(f"after step {self.next}: action", self.want, action)
        if self.states and self.next > 0:
            self.problems += state_problems(state, wanted=True)

    def _event(self, step: Step) -> dict[str, Any]:
        self.clock += step.get("takes_us", 0)
        self.pending = 0
        return event_of(step, self.clock)

    def _play(self) -> None:
        self.want = self.steps[self.next].get("want")
        self.next += 1

    def _wait(self, step: Step) -> int:
        return int(step.get("wait_us", self.pending))

    def _broken(self, function: str) -> bytes | None:
        """What the next step's broken function answers, if it is the one called."""
        if self.next < len(self.steps):
            broken = self.steps[self.next].get("broken")
            if broken is not None and broken["function"] == function:
                self._play()
                return str(broken.get("answer", "")).encode()
        return None


class World(Silent):
    """A host in virtual time, with a server that is away until a moment."""

    def __init__(self, case: Case) -> None:
        assert case.outage is not None
        self._outage = case.outage
        self._clock = case.clock
        self._back = self._outage.get("up_us")
        self.starts: list[int] = []

    def now(self) -> bytes:
        return dumped({"now_us": self._clock})

    def sleep(self, action: bytes) -> bytes:
        asked = decoded(action)
        wake, notices = asked.get("wake"), self._outage.get("notices")
        enough = wake is not None and notices in ("ready", wake["by"])
        if enough and self._back is not None:
            seen = max(self._back, self._clock + wake.get("after_us", 0))
            if seen < self._clock + asked["delay_us"]:
                self._clock = seen
                woken = {"wait": "woken", "by": notices, "now_us": seen}
                return dumped(with_random(self._outage, woken))
        self._clock += asked["delay_us"]
        away = self._back is None or self._clock < self._back
        if self._outage.get("watches") and wake is not None and away:
            down = {"wait": "down", "now_us": self._clock}
            return dumped(with_random(self._outage, down))
        return dumped({"wait": "full", "now_us": self._clock})

    def attempt(self, action: bytes) -> bytes:
        outage = self._outage
        self.starts.append(self._clock)
        if self._back is None or self._clock < self._back:
            result, takes = outage["down"], outage.get("takes_us", 0)
            if len(self.starts) == 1:
                takes = outage.get("first_takes_us", takes)
        else:
            result, takes = outage["up"], outage.get("up_takes_us", 0)
        self._clock += takes
        event = {"type": "attempted", "now_us": self._clock, "result": result}
        return dumped(with_random(outage, event))

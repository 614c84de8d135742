"""Plays the cases through the doors of the plugin."""

from __future__ import annotations

from typing import Any, Protocol

from .cases import Case
from .compare import decoded, differences, mismatch, opened, state_problems
from .script import FIRST_ACTION, Dying, Script, Silent, World, dumped, event_of


class Plugin(Protocol):
    """The plugin as a host calls it."""

    def call(self, export: str, data: bytes, host: Any = None) -> bytes: ...


def check(plugin: Plugin, case: Case) -> list[str]:
    """Run one case through its doors, and say what is wrong."""
    if "export" in case.members:
        return [f"request: {problem}" for problem in _request(plugin, case)]
    problems = []
    for door in case.doors:
        problems += [f"{door}: {problem}" for problem in _through(plugin, case, door)]
    return problems


def _request(plugin: Plugin, case: Case) -> list[str]:
    """Call an export once. Of an ok, the members that the case has are compared."""
    members = case.members
    envelope = opened(plugin.call(members["export"], case.raw, Silent()))
    want_error = members.get("want_error")
    problems = mismatch(want_error, envelope.get("error"))
    if problems or want_error is not None:
        return problems
    return differences("ok", members["want"], envelope["ok"], open_ended=True)


def _through(plugin: Plugin, case: Case, door: str) -> list[str]:
    if case.outage is not None:
        return _outage(plugin, case, door)
    if door == "resumed":
        return _resumed(plugin, case)
    script = Script(case)
    if door == "decide":
        loop = _Loop(plugin, script, case)
        answer = loop.run()
        return [*script.problems, *loop.problems, *_ended(script, answer)]
    request = case.request
    if door == "first":
        request["first"] = script.first_event()
    script.states = True
    answer = plugin.call("run", dumped(request), script)
    return [*script.problems, *_ended(script, answer)]


class _Loop:
    """A loop around decide, as a simple host has it. It gives what run would give."""

    def __init__(self, plugin: Plugin, host: Script | World, case: Case) -> None:
        self._plugin = plugin
        self._host = host
        self._request: dict[str, Any] = case.request
        if case.members.get("explain"):
            self._request["explain"] = True
        self.problems: list[str] = []

    def run(self) -> bytes:
        first = self._host.attempt(dumped(FIRST_ACTION))
        if not first:
            return _host_failed("outlast_attempt")
        self._request["event"] = decoded(first)
        while True:
            answer = self._plugin.call("decide", dumped(self._request))
            envelope = opened(answer)
            if "error" in envelope:
                return answer
            action, state = envelope["ok"]["action"], envelope["ok"].get("state", "")
            self.problems += state_problems(state, wanted=action["type"] == "retry")
            if action["type"] != "retry":
                if isinstance(self._host, Script):
                    self._host.compare(dumped(action))
                return dumped({"v": 1, "ok": {"outcome": action.get("outcome")}})
            self._request["state"] = state
            failed = self._follow(action)
            if failed:
                return _host_failed(failed)

    def _follow(self, action: dict[str, Any]) -> str:
        """Do what a retry asks for, and name the host function that fails, if one does."""
        if action.get("delay_us", 0) > 0:
            try:
                slept = decoded(self._host.sleep(dumped(action)))
            except ValueError:
                return "outlast_sleep"
            step = {"woken": slept.get("by")} if slept["wait"] == "woken" else {}
            if slept["wait"] == "down":
                step = {"down": True}
            if slept["wait"] == "cancelled":
                step = {"cancelled": True}
            if step:
                if "random" in slept:
                    step["random"] = slept["random"]
                self._request["event"] = event_of(step, slept["now_us"])
                return ""
        event = self._host.attempt(dumped(action))
        if not event:
            return "outlast_attempt"
        self._request["event"] = decoded(event)
        return ""


def _host_failed(function: str) -> bytes:
    """The envelope that run answers where a host function fails."""
    error = {"code": "host_failed", "message": "no answer", "field": function}
    return dumped({"v": 1, "error": error})


def _ended(script: Script, answer: bytes) -> list[str]:
    """Check how run ended after the script: with the last step's outcome or
    error, or, where the last step wants a retry, because nothing answered it.
    """
    envelope = opened(answer)
    error = envelope.get("error")
    if script.next < len(script.steps):
        early = f"it ended after step {script.next} of {len(script.steps)}"
        return [early, *mismatch(None, error)]
    last = script.steps[-1]
    if "want_error" in last:
        return mismatch(last["want_error"], error)
    want = last["want"]
    if want["type"] != "stop":
        function = "outlast_sleep" if want.get("delay_us", 0) > 0 else "outlast_attempt"
        return mismatch({"code": "host_failed", "field": function}, error)
    return mismatch(None, error) or _same_outcome(want["outcome"], envelope["ok"])


def _same_outcome(want: Any, ok: dict[str, Any]) -> list[str]:
    if "outcome" not in ok:
        return [f"no outcome: {ok}"]
    return differences("outcome", want, ok["outcome"])


def _resumed(plugin: Plugin, case: Case) -> list[str]:
    """Lose the instance after every step: each event goes into a new run with the
    state of the action before, and the first host call that follows is not
    answered. An attempt is also made by a run that has the state alone.
    """
    before: dict[str, Any] = {}
    now = case.clock
    for i, step in enumerate(case.steps):
        script = Script(case, i, now)
        script.pending = before.get("delay_us", 0)
        request = case.request
        if before:
            request["state"] = before["state"]
        request["first"] = script.first_event()
        lost = Dying()
        answer = plugin.call("run", dumped(request), lost)
        problems = _lost(case, i, lost, script, answer)
        if not problems and "attempt" in step and before and not before.get("repair"):
            problems = _with_state_alone(plugin, request, before, lost)
        if problems or lost.action is None:
            return problems
        before, now = lost.action, script.clock
    return []


def _lost(case: Case, i: int, lost: Dying, script: Script, answer: bytes) -> list[str]:
    """Check what came after step i."""
    if lost.action is None:
        early = f"it ended after step {i + 1} of {len(case.steps)}"
        return [*([early] if i < len(case.steps) - 1 else []), *_ended(script, answer)]
    step = case.steps[i]
    if "want" not in step:
        return [f"after step {i + 1} there is an action, where an error is wanted"]
    action = {name: value for name, value in lost.action.items() if name != "state"}
    problems = differences(f"after step {i + 1}: action", step["want"], action)
    return problems + state_problems(lost.action.get("state", ""), wanted=True)


def _with_state_alone(
    plugin: Plugin, request: dict[str, Any], before: dict[str, Any], want: Dying
) -> list[str]:
    """Have run make the attempt of which the request has the event, and compare
    what comes next with what came of the event.
    """
    request = dict(request)
    lost = Dying(request.pop("first"))
    answer = plugin.call("run", dumped(request), lost)
    first = {
        "type": "retry",
        "attempt": before["attempt"],
        "delay_us": 0,
        "state": before["state"],
    }
    problems = differences("the attempt's action, with the state alone", first, lost.asked)
    if (lost.action is None) != (want.action is None):
        problems.append(f"with the state alone it ends otherwise: {answer!r}")
    elif lost.action is not None:
        problems += differences("the next action, with the state alone", want.action, lost.action)
    return problems


def _outage(plugin: Plugin, case: Case, door: str) -> list[str]:
    """Play an outage, and continue run as often as it asks for it."""
    want, world = case.members["want"], World(case)
    continues = 0
    if door == "decide":
        loop = _Loop(plugin, world, case)
        answer = loop.run()
        problems = loop.problems
    else:
        problems = []
        request = case.request
        while True:
            answer = plugin.call("run", dumped(request), world)
            more = opened(answer).get("ok", {}).get("continue")
            if more is None:
                break
            continues += 1
            request["state"], request["first"] = more["state"], more["first"]
        if continues != want.get("continues", 0):
            problems.append(f"want {want.get('continues', 0)} continuations, got {continues}")
    envelope = opened(answer)
    if "error" in envelope:
        return [*problems, *mismatch(None, envelope["error"])]
    if "starts_us" in want:
        problems += differences("starts", want["starts_us"], world.starts)
    return problems + _same_outcome(want["outcome"], envelope["ok"])

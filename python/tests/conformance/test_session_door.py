"""The contract's cases through the package's own door: policy.session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import outlast
from outlast._action import read_action

from .cases import Case, load
from .doors import check
from .script import Script, cuts_short
from .test_conformance import OneInstance

LARGEST = 10**14
"""Microseconds up to which seconds as a float give the same microseconds again."""

CALL = {"remote", "write", "surface_conflict", "connect_retry", "label"}
RESULT = {"exit_code", "stdout", "stderr", "http_status", "message", "sent", "signal"}


def seconds(us: Any) -> float:
    """Microseconds as seconds, if the package can express them."""
    if not isinstance(us, int) or abs(us) > LARGEST:
        raise KeyError(us)
    return us / 1e6


def call_of(members: dict[str, Any]) -> tuple[outlast.Call, int | None]:
    given: dict[str, Any] = {}
    seed = None
    for name, value in members.items():
        if name == "seed":
            seed = value
        elif name.endswith("_us"):
            given[name.removesuffix("_us")] = seconds(value)
        elif name in CALL:
            given[name] = value
        else:
            raise KeyError(name)
    return outlast.Call(**given), seed


def result_of(members: dict[str, Any]) -> outlast.Result:
    given: dict[str, Any] = {}
    for name, value in members.items():
        if name.endswith("_us"):
            given[name.removesuffix("_us")] = seconds(value)
        elif name in RESULT or name in ("timed_out", "streamed"):
            given[name] = value
        else:
            raise KeyError(name)
    return outlast.Result(**given)


def expressible(case: Case) -> bool:
    """Whether the package can say what the case does."""
    if not case.steps or "decide" not in case.doors:
        return False
    try:
        _, seed = call_of(case.members["call"])
        for step in case.steps:
            seconds(step.get("wait_us", 0))
            for key in ("attempt", "repair", "cancelled"):
                if isinstance(step.get(key), dict):
                    result_of(step[key])
    except (KeyError, ValueError, TypeError):
        return False
    # The package always gives a seed, so a case that has none must not miss it.
    missing = any(s.get("want_error", {}).get("field") == "event.random" for s in case.steps)
    # A session knows itself whether a repair was asked for.
    wrong = any(
        s.get("want_error", {}).get("field") == "event.type" and not {"woken", "down"} & s.keys()
        for s in case.steps
    )
    return (
        not any("broken" in s for s in case.steps) and not (seed is None and missing) and not wrong
    )


ALL = [c for c in load() if c.steps and "decide" in c.doors]
CASES = [c for c in ALL if expressible(c)]


def test_most_cases_can_be_expressed() -> None:
    assert len(CASES) > 0.8 * len(ALL)


@pytest.mark.filterwarnings("ignore::outlast.SurprisingValueWarning")
@pytest.mark.parametrize("case", CASES, ids=[f"{c.file}/{c.name}" for c in CASES])
def test_session(case: Case) -> None:
    call, seed = call_of(case.members["call"])
    session = outlast.Policy(case.members["policy"], check=False).session(call, seed)
    script = Script(case)
    pending = 0
    for i, step in enumerate(case.steps):
        script.clock += step.get("after_us", 0) if cuts_short(step) else 0
        if not cuts_short(step):
            script.clock += step.get("wait_us", pending) + step.get("takes_us", 0)
        if "want_error" in step:
            with pytest.raises(outlast.PluginError) as raised:
                send(session, step, script.clock, explain=False)
            assert raised.value.code == step["want_error"]["code"], i
            assert raised.value.field == step["want_error"].get("field", ""), i
            return
        action = send(session, step, script.clock, explain=bool(case.members.get("explain")))
        if isinstance(action, outlast.Stop):
            action = replace(action, outcome=replace(action.outcome, result=None))
        assert action == read_action(step["want"]), i
        pending = step["want"].get("delay_us", 0)


def send(
    session: outlast.Session, step: dict[str, Any], now_us: int, *, explain: bool
) -> outlast.Action:
    now = seconds(now_us)
    random = step["random"] / 2**32 if "random" in step else None
    if "woken" in step:
        return session.woken(step["woken"], now, random)
    if "down" in step:
        return session.down(now, random)
    if "cancelled" in step:
        result = None if step["cancelled"] is True else result_of(step["cancelled"])
        return session.cancelled(result, now)
    result = result_of(step["attempt"] if "attempt" in step else step["repair"])
    return session.next(result, now, random, explain=explain)


@pytest.mark.parametrize("door", ["decide", "run", "first", "resumed"])
def test_the_runner_notices_a_difference(door: str) -> None:
    plugin = OneInstance()
    spoilt = 0
    for case in ALL[:200]:
        for i, step in enumerate(case.steps):
            if "delay_us" in step.get("want", {}) and door in case.doors:
                want = {**step["want"], "delay_us": step["want"]["delay_us"] + 1}
                steps = [*case.steps[:i], {**step, "want": want}, *case.steps[i + 1 :]]
                members = {**case.members, "steps": steps, "doors": [door]}
                assert check(plugin, Case(case.file, members)), case.name
                spoilt += 1
                break
        if spoilt == 20:
            return
    raise AssertionError("too few cases to spoil")

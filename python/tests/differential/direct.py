"""A call of witan-core's retold to the policy alone, attempt by attempt."""

from __future__ import annotations

import warnings

from outlast import Call, Outcome, Policy, Result, Retry, Stop

from .scenario import Scenario
from .world import Step, World, close


def differences(policy: Policy, world: World) -> list[str]:
    """Where the policy would have done something else than was done."""
    session = policy.session(_call(world.scenario), 0)
    steps = list(world.steps)
    found: list[str] = []
    for attempt, step in enumerate(world.steps, 1):
        number = sum(s.what == "attempt" for s in world.steps[:attempt])
        if step.what == "attempt":
            after = steps[attempt]
            result = step.result or Result(exit_code=0)
            chance = world.failure(number).chance if world.scenario.failures else 0.0
            action = session.next(result, step.at, chance)
            found += _compare(number, action, after, world)
        elif step.what == "repair":
            action = session.next(Result(exit_code=1), step.at)
            if not isinstance(action, Retry) or action.delay != 0:
                found.append(f"after a repair: {action}")
        if found:
            break
    return found


def _call(scenario: Scenario) -> Call:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # witan-core lets a read surface a conflict
        return Call(
            remote=scenario.remote,
            write=scenario.write,
            surface_conflict=scenario.surface_conflict,
            connect_retry=scenario.connect_retry,
            budget=scenario.budget if scenario.budget and scenario.remote else None,
            started=scenario.began,
        )


def _compare(number: int, action: Retry | Stop, after: Step, world: World) -> list[str]:
    """What followed an attempt, against what the policy wants to follow."""
    if isinstance(action, Retry):
        if action.repair:
            same = after.what == "repair" and action.repair_force
        else:
            same = after.what == "sleep" and close(action.delay, after.delay)
    else:
        same = after.what in ("ok", "raise") and expected(action.outcome, world.scenario) == type(
            after.error
        ).__name__.replace("NoneType", "ok")
    return [] if same else [f"attempt {number}: the policy says {action}, and {after} followed"]


def expected(outcome: Outcome, scenario: Scenario) -> str:
    """The exception of witan-core 0.45.0's that an outcome stands for."""
    if outcome.type == "exhausted":
        return {
            "unavailable": "StoreUnavailable",
            "admission_cap": "AdmissionCapExceeded",
            "conflict": "WriteContention"
            if scenario.write and outcome.kind == "conflict"
            else "RuntimeError",
        }.get(outcome.budget, "RuntimeError")
    if scenario.write and outcome.kind in ("contract_violation", "recovery_required"):
        return "WriteIndeterminate"
    if outcome.kind == "store_quarantined":
        return "StoreQuarantined"
    return {"ok": "ok", "conflict": "OmnigraphConflict"}.get(outcome.type, "RuntimeError")

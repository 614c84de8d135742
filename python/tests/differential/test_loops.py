"""Whole calls: the same attempts, repairs, delays and exceptions."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

import pytest

from outlast import Policy, witan
from witan.releases import Release

from .direct import differences, expected
from .scenario import COMMAND_TEXTS, Failure, Scenario, generate
from .world import MICROSECOND, Step, World, close, observe

SEQUENCES = int(os.environ.get("OUTLAST_SEQUENCES", "3000"))
"""How many random calls each test has."""

ALL_ENDS = {
    "ok",
    "AdmissionCapExceeded",
    "OmnigraphConflict",
    "RuntimeError",
    "StoreQuarantined",
    "StoreUnavailable",
    "WriteContention",
    "WriteIndeterminate",
}


@pytest.mark.usefixtures("quiet", "loaded", "uninstalled")
def test_installed(variant: Release, record_property: Any) -> None:
    scenarios = [generate(seed, variant.http is not None) for seed in range(SEQUENCES)]
    oracle = [observe(variant, scenario) for scenario in scenarios]
    with variant.importable():
        witan.install()
    counts: Counter[str] = Counter()
    for world in oracle:
        assert_same(world, observe(variant, world.scenario, sleeps(world)))
        counts.update(step.what for step in world.steps)
        counts[end(world)] += 1
    record_property("counts", dict(counts))
    assert counts["sleep"] > SEQUENCES / 2
    assert counts["repair"] > SEQUENCES / 10
    if variant.http is not None:
        assert set(counts) >= ALL_ENDS


@pytest.mark.usefixtures("quiet", "loaded")
def test_policy_alone(release: Release) -> None:
    """The document as it is, through decide and nothing else. What somebody has
    replaced in witan-core it cannot know.
    """
    document = witan.document(release.version)
    with_hint = Policy("witan-core") if release.http is not None else Policy(document)
    rules = [rule for rule in document["rules"] if rule["kind"] != "storage_mismatch"]
    without = Policy({**document, "rules": rules})
    seen: Counter[str] = Counter()
    for seed in range(SEQUENCES, 2 * SEQUENCES):
        scenario = generate(seed, release.http is not None)
        if scenario.constants or scenario.helper:
            continue
        world = observe(release, scenario)
        found = differences(with_hint if scenario.hint else without, world)
        if release.http is None:  # which has one exception for nearly everything
            found = [f for f in found if not _only_exceptions_differ(f, world)]
        assert not found, f"seed {seed}: {found[0]}"
        seen[end(world)] += 1
    assert len(seen) >= (8 if release.http is not None else 3), seen


def _only_exceptions_differ(found: str, world: World) -> bool:
    return "Stop(" in found and end(world) == "RuntimeError" and "'ok'" not in found


@pytest.mark.usefixtures("quiet", "loaded", "uninstalled")
@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["unavailable", "admission_cap", "conflict", "recovery"])
def test_ties_at_the_deadline(latest: Release, kind: str, chance: float) -> None:
    """The call's budget ends exactly when a delay would, or a microsecond before
    or after; and the window ends exactly with its last delay.
    """
    budgets = {0.0}
    for elapsed, delay in waits(observe(latest, tie(kind, chance, 0.0))):
        budget = elapsed + delay
        if budget - elapsed == delay and budget > 0:  # a tie for floats too
            budgets |= {budget, budget + MICROSECOND}
            budgets |= {budget - MICROSECOND} if budget > MICROSECOND else set()
    oracle = [observe(latest, tie(kind, chance, budget)) for budget in sorted(budgets)]
    with latest.importable():
        witan.install()
    for world in oracle:
        assert_same(world, observe(latest, world.scenario, sleeps(world)))
    assert len(oracle) > 3 or (kind, chance) == ("conflict", 0.0)


def tie(kind: str, chance: float, budget: float) -> Scenario:
    """A call that fails for ever, on a clock that begins at 0 and whose every
    time is exact.
    """
    text = COMMAND_TEXTS[kind][0]
    return Scenario(
        seed=0,
        http=False,
        remote=True,
        write=False,
        surface_conflict=False,
        connect_retry=True,
        hint=False,
        budget=budget,
        tick=2.0**-6,
        failures=(Failure(kind, 0, chance, stderr=text),),
        lasting=True,
        began=0.0,
    )


def waits(world: World) -> list[tuple[float, float]]:
    """When each sleep began, since the call did, and how long it was."""
    found = []
    for before, step in zip(world.steps, world.steps[1:], strict=False):
        if step.what == "sleep":
            found.append((before.at - world.scenario.began, step.delay))
    return found


def sleeps(world: World) -> list[float]:
    return [step.delay for step in world.steps if step.what == "sleep"]


def end(world: World) -> str:
    error = world.steps[-1].error
    return "ok" if error is None else type(error).__name__


def assert_same(oracle: World, installed: World) -> None:
    """The same attempts, repairs and delays at the same times, and the same end."""
    seed = f"seed {oracle.scenario.seed}"
    for number, (a, b) in enumerate(zip(oracle.steps, installed.steps, strict=False)):
        assert _same(a, b), f"{seed}, step {number}: witan-core {a}, outlast {b}"
    assert len(oracle.steps) == len(installed.steps), seed
    if oracle.steps[-1].error is not None:
        assert_says_as_much(seed, oracle.steps[-1].error, installed.steps[-1].error)


def _same(a: Step, b: Step) -> bool:
    return (
        a.what == b.what
        and a.at == b.at
        and close(a.delay, b.delay)
        and type(a.error) is type(b.error)
    )


def assert_says_as_much(seed: str, oracle: BaseException, installed: BaseException | None) -> None:
    """Every number, address and word in capitals is there, and all that the
    store said.
    """
    title, _, said = str(oracle).partition("\n")
    installed_title, _, installed_said = str(installed).partition("\n")
    assert said == installed_said, f"{seed}: {installed}"
    for fact in re.findall(r"https?://\S+|\b\d[\d.]*|\b[A-Z]{2,}\b|`[^`]+`", title):
        assert fact in installed_title, f"{seed}: {fact!r} is missing in {installed_title!r}"


def test_every_end_is_expected_of_some_outcome() -> None:
    """The table in :func:`expected` is of the policy's outcomes, not of these."""
    from outlast import Outcome

    scenario = generate(0, True)
    assert expected(Outcome("ok"), scenario) == "ok"
    assert expected(Outcome("failed", kind="failed"), scenario) == "RuntimeError"

"""The backoff helpers: the plugin's schedules."""

from __future__ import annotations

import random
from typing import Any

import pytest

from differential.world import close, replaced
from outlast import witan
from witan.releases import Release

pytestmark = pytest.mark.usefixtures("uninstalled")

HELPERS = (
    "_unavailable_backoff",
    "_admission_cap_backoff",
    "_recovery_backoff",
    "_conflict_backoff",
)


def test_they_equal_witan_cores(release: Release) -> None:
    omnigraph = release.omnigraph
    names = [name for name in HELPERS if hasattr(omnigraph, name)]
    theirs = {name: getattr(omnigraph, name) for name in names}
    jittered = omnigraph._jittered_backoff
    with release.importable():
        witan.install()
    rng = random.Random(7)
    for attempt in (*range(1, 24), 63, 64, 65, 200, 1000):
        chance = rng.choice((0.0, 0.5, 1.0, rng.getrandbits(32) / (2**32 - 1)))
        with replaced(omnigraph, "random", Chance(chance)):
            for name in names:
                assert close(theirs[name](attempt), getattr(omnigraph, name)(attempt)), name
            base, cap = rng.choice(((0.2, 3.2), (1, 1), (0.015625, 9.5)))
            assert close(
                jittered(attempt, base, cap), omnigraph._jittered_backoff(attempt, base, cap)
            )


class Chance:
    def __init__(self, chance: float) -> None:
        self.chance = chance

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.chance


def test_they_follow_the_constants_and_each_other(latest: Release) -> None:
    omnigraph: Any = latest.omnigraph
    with latest.importable():
        witan.install()
    with (
        replaced(omnigraph, "random", Chance(0.0)),
        replaced(omnigraph, "_UNAVAILABLE_BASE_DELAY", 0.75),
    ):
        assert omnigraph._unavailable_backoff(2) == 1.5
        with replaced(
            omnigraph, "_jittered_backoff", lambda attempt, base, cap: (attempt, base, cap)
        ):
            assert omnigraph._unavailable_backoff(3) == (3, 0.75, 10.0)


def test_a_conflicts_is_drawn_as_witan_core_draws_it(latest: Release) -> None:
    omnigraph = latest.omnigraph
    with latest.importable():
        witan.install()

    class Bounds:
        @staticmethod
        def uniform(low: float, high: float) -> tuple[float, float]:
            return low, high

    with replaced(omnigraph, "random", Bounds):
        assert omnigraph._conflict_backoff(1) == (0, 0.1)
        assert omnigraph._conflict_backoff(4) == (0, 0.8)
        assert omnigraph._conflict_backoff(5) == (0, 1.0)

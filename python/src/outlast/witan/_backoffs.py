"""What stands in for witan-core's backoff helpers: the plugin's schedules."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .._call.action import Retry
from .._call.call import Call
from .._call.result import Result
from .._run.policy import Policy
from ._documents import backoff

if TYPE_CHECKING:
    from ._modules import Modules

FAR = 64
"""After so many doublings every schedule is at its cap."""

JITTER = 0.1
"""The part of a delay that witan-core adds at most at random."""


class Backoffs:
    """The functions that witan-core's module gets."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def jittered(self, attempt: int, base: float, cap: float) -> float:
        """``_jittered_backoff``: the delay after a failure, in seconds."""
        return delay(_jittered(base, cap), attempt, self._modules.draw())

    def conflict(self, attempt: int) -> float:
        """``_conflict_backoff``: a delay of anything up to the schedule's."""
        omnigraph = self._modules.omnigraph
        numbers = backoff(omnigraph._CONFLICT_BASE_DELAY, omnigraph._CONFLICT_MAX_DELAY)
        most = delay({"type": "exponential", "multiplier": 2} | numbers, attempt, 0.0)
        drawn: float = omnigraph.random.uniform(0, most)
        return drawn

    def scheduled(self, base: str, cap: str, attempt: int, chance: float) -> float:
        """The delay of a helper for a given chance, in seconds."""
        omnigraph = self._modules.omnigraph
        return delay(_jittered(getattr(omnigraph, base), getattr(omnigraph, cap)), attempt, chance)

    def helper(self, base: str, cap: str) -> Callable[[int], float]:
        """A helper that goes by ``_jittered_backoff``."""
        omnigraph = self._modules.omnigraph

        def delay_after(attempt: int) -> float:
            jittered: float = omnigraph._jittered_backoff(
                attempt, getattr(omnigraph, base), getattr(omnigraph, cap)
            )
            return jittered

        return delay_after


def _jittered(base: float, cap: float) -> dict[str, Any]:
    schedule = {"type": "exponential", "multiplier": 2, "jitter": JITTER, "jitter_at_cap": "cut"}
    return schedule | backoff(base, cap)


def delay(schedule: dict[str, Any], attempt: int, random: float) -> float:
    """The delay that the plugin has in a schedule after a failure, in seconds.

    Args:
        schedule: The ``backoff`` of a policy's document.
        attempt: The number of the failure, counted from 1.
        random: The chance, from 0 to 1.
    """
    policy = _schedule(tuple(sorted(schedule.items())))
    session = policy.session(Call(remote=False, write=False), 0)
    action = session.next(FAILURE, 0.0, random)
    for _ in range(min(attempt, FAR) - 1):
        action = session.next(FAILURE, 0.0, random)
    assert isinstance(action, Retry)
    return action.delay


FAILURE = Result(exit_code=1)


@lru_cache(maxsize=64)
def _schedule(backoff: tuple[tuple[str, Any], ...]) -> Policy:
    document = {
        "version": 1,
        "name": "schedule",
        "budgets": {"all": {"attempts": 10_000, "backoff": dict(backoff)}},
        "rules": [{"kind": "failed", "then": [{"retry": "all"}]}],
    }
    return Policy(document, check=False)

"""What stands in for witan-core's retry loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import events
from .._call.action import Action, Retry, Stop
from .._call.call import Call
from .._call.errors import OutlastError
from .._call.outcome import Outcome
from .._call.result import Result
from .._policy.session import Session
from .._run.task import Task
from ._backoffs import Backoffs
from ._failures import AttemptResult, Ending
from ._recognition import NAMES, OK, STAND_INS, UNKNOWN

if TYPE_CHECKING:
    from ._modules import Modules

LABEL = 64
"""How much of a label hooks are told, in characters. Messages have all of it."""

SHORTEST_BUDGET = 1e-6
"""A budget must be above 0 s. That of a call whose deadline is over is this, and
the call's start is moved back."""

LONGEST_BUDGET = 1e9
"""Seconds, thirty years: a budget above that is left out."""

ADMISSION_CAP = "admission_cap"
"""The only kind for which witan-core hears a server's Retry-After."""


@dataclass(frozen=True)
class CommandResult:
    """An attempt of a generation that has no type for it. Its kind is the
    policy's to find.
    """

    body: str
    error: str
    returncode: int

    @property
    def kind(self) -> str:
        return "" if self.returncode else OK

    @property
    def retry_after(self) -> None:
        return None


class Loop:
    """One call's loop. It holds nothing of the plugin between two decisions.

    Args:
        modules: Where it takes the place of witan-core's.
        helpers: By their budgets the backoff helpers whose delays count.
        client: witan-core's client.
        label: The call's.
        env: The environment of a repair.
        is_write: Whether the call may change something.
        surface_conflict: Whether a lost race is told and not repeated.
        deadline: When the call's own budget ends, on ``time.monotonic()``;
            ``None``: it has none.
    """

    def __init__(
        self,
        modules: Modules,
        helpers: Mapping[str, Callable[[int], float]],
        client: Any,
        label: str,
        *,
        env: dict[str, str],
        is_write: bool,
        surface_conflict: bool,
        deadline: float | None,
    ) -> None:
        self._modules = modules
        self._omnigraph = modules.omnigraph
        self._client = client
        self._label = label
        self._env = env
        self._helpers = helpers
        self._policy = modules.policy(bool(client._STORAGE_MISMATCH_HINT), frozenset(self._helpers))
        self._deadline = deadline
        self._call = self._describe(is_write, surface_conflict)
        self._task = Task(
            self._policy, self._call, clock=self._now, options={"secrets": self._secrets()}
        ).begun()
        self._session = self._continue("")
        self._attempts = 0
        self._counts: dict[str, int] = {}  # failures by budget

    def run(self, attempt_once: Callable[[], AttemptResult]) -> str:
        """Make attempts until one succeeds, and get its body.

        Raises:
            Exception: witan-core's own, if none does.
        """
        try:
            return self._run(attempt_once)
        except BaseException as e:
            self._task.ended(e)
            raise

    def _run(self, attempt_once: Callable[[], AttemptResult]) -> str:
        while True:
            self._attempts += 1
            with self._task.around(self._attempts, self._now(), None):
                attempt = attempt_once()
            if attempt.kind == OK:
                self._succeeded()
                self._task.ended(None)
                return attempt.body
            action = self._failed(attempt)
            if action.repair:
                self._client._repair(self._env)
                self._repaired(attempt)
            else:
                self._omnigraph.time.sleep(action.delay)

    def _now(self) -> float:
        now: float = self._omnigraph.time.monotonic()
        return now

    def _describe(self, is_write: bool, surface_conflict: bool) -> Call:
        started, budget = self._now(), None
        if self._deadline is not None and self._deadline - started < LONGEST_BUDGET:
            budget = max(self._deadline - started, SHORTEST_BUDGET)
            started = self._deadline - budget
        return Call(
            remote=bool(self._client.is_remote),
            write=is_write,
            surface_conflict=surface_conflict,
            connect_retry=bool(getattr(self._client, "connect_retry", True)),
            budget=budget,
            label=self._label[:LABEL],
            started=started,
        )

    def _secrets(self) -> tuple[str, ...]:
        in_env = (self._env or {}).get(self._omnigraph.BEARER_TOKEN_ENV_VAR)
        tokens = (getattr(self._client, "token", None), in_env)
        return tuple(token for token in tokens if token)

    def _continue(self, state: str) -> Session:
        """The call's session, as it was when it had this state. Each event
        brings its own randomness, so the seed is never used.
        """
        session = self._policy.session(self._call, 0, state=state)
        session.on_replaced = self._task.tell_replaced
        return session

    def _succeeded(self) -> None:
        result, now = Result(exit_code=0), self._now()
        self._task.tell_attempt(self._attempts, result, now)
        if self._attempts == 1:
            self._task.succeeded(result, now)
            return
        try:
            action = self._session.next(result, now)
        except OutlastError:
            return  # what has succeeded stays so
        if isinstance(action, Stop):
            self._task.stopped(action.outcome, self._now())

    def _failed(self, attempt: AttemptResult) -> Retry:
        """The retry after an attempt that failed.

        Raises:
            Exception: witan-core's own, if there is none.
        """
        now = self._now()
        result = result_of(attempt)
        self._task.tell_attempt(self._attempts, result, now)
        chance = self._modules.draw()
        try:
            action = self._decide(attempt, result, now, chance)
        except OutlastError as e:
            raise self._ending(attempt, now, chance).undecided(e) from e
        self._task.tell_loading()
        if isinstance(action, Stop):
            self._task.stopped(action.outcome, self._now())
            raise self._ending(attempt, now, chance).error(action.outcome) from None
        self._counts[action.budget] = self._counts.get(action.budget, 0) + 1
        self._tell(action, now)
        return action

    def _decide(self, attempt: AttemptResult, result: Result, now: float, chance: float) -> Action:
        before = self._session.state
        action = self._session.next(result, now, chance)
        if attempt.kind and recognised(action) not in (attempt.kind, "storage_mismatch"):
            # Somebody else has said what kind it is, and that counts.
            result = replace(STAND_INS.get(attempt.kind, UNKNOWN), retry_after=result.retry_after)
            self._session = self._continue(before)
            action = self._session.next(result, now, chance)
        helper = self._helpers.get(scheduled_on(action))
        if helper is not None and result.retry_after is None:
            delay = helper(self._counts.get(scheduled_on(action), 0) + 1)
            self._session = self._continue(before)
            action = self._session.next(replace(result, retry_after=delay), now, chance)
        return action

    def _repaired(self, attempt: AttemptResult) -> None:
        """Tell the policy that the repair is over. witan-core goes on however it
        ended.
        """
        now = self._now()
        try:
            self._session.next(Result(exit_code=0), now)
        except OutlastError as e:
            raise self._ending(attempt, now, 0.0).undecided(e) from e

    def _tell(self, action: Retry, now: float) -> None:
        if action.repair:
            self._task.tell(events.Repairing, kind=action.kind, force=action.repair_force, at=now)
        else:
            self._task.tell(
                events.Waiting,
                kind=action.kind,
                budget=action.budget,
                attempt=action.attempt,
                delay=action.delay,
                remaining=action.remaining,
                at=now,
            )

    def _ending(self, attempt: AttemptResult, now: float, chance: float) -> Ending:
        return Ending(
            omnigraph=self._omnigraph,
            client=self._client,
            label=self._label,
            is_write=self._call.write,
            attempt=attempt,
            left=None if self._deadline is None else self._deadline - now,
            delay=lambda: self._refused_delay(chance),
        )

    def _refused_delay(self, chance: float) -> float:
        """The wait on the admission cap's budget that the call has no time for."""
        number = self._counts.get(ADMISSION_CAP, 0) + 1
        helper = self._helpers.get(ADMISSION_CAP)
        if helper is not None:
            return helper(number)
        return Backoffs(self._modules).scheduled(
            "_ADMISSION_CAP_BASE_DELAY", "_ADMISSION_CAP_MAX_DELAY", number, chance
        )


def result_of(attempt: AttemptResult) -> Result:
    """An attempt as the policy gets it."""
    result: Result | None = getattr(attempt.kind, "evidence", None)
    if result is None and attempt.returncode is None:
        status: int | None = getattr(attempt, "status", None)
        result = Result(http_status=status, message=attempt.error)
    elif result is None:
        result = Result.from_process(attempt.returncode or 1, stderr=attempt.error)
    if attempt.kind == ADMISSION_CAP:
        return replace(result, retry_after=attempt.retry_after)
    return result


def recognised(action: Action) -> str:
    """What kind of failure the policy has seen, in witan-core's words; ``""`` if
    it has seen a success.
    """
    if isinstance(action, Retry):
        return NAMES.get(action.kind, action.kind)
    return "" if action.outcome.ok else NAMES.get(action.outcome.kind, action.outcome.kind)


def scheduled_on(action: Action) -> str:
    """The budget whose schedule has led to an action; ``""`` if none has."""
    if isinstance(action, Retry):
        return "" if action.repair else action.budget
    outcome: Outcome = action.outcome
    return outcome.budget if outcome.reason == "call" else ""

"""The exceptions that a call of witan-core's ends with.

They are witan-core's own, with its phrases where programs look for them, and
:func:`outlast.outcome_of` finds the outcome in each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from .._call.errors import OutlastError
from .._call.outcome import Outcome
from .._run.decorator import ATTRIBUTE


class AttemptResult(Protocol):
    """What witan-core's attempts give: its ``_AttemptResult``. From 0.45.0 on
    there may be a ``status`` too, that of an HTTP answer.
    """

    @property
    def kind(self) -> str: ...
    @property
    def body(self) -> str: ...
    @property
    def error(self) -> str: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def retry_after(self) -> float | None: ...


@dataclass(frozen=True)
class Ending:
    """A call's last failure.

    Attributes:
        omnigraph: witan-core's module.
        client: Its client.
        label: The call's.
        is_write: Whether it may have changed something.
        attempt: The attempt that failed.
        left: Seconds left of the call's own budget; ``None``: it has none.
        delay: Seconds that the next wait would have been.
    """

    omnigraph: ModuleType
    client: Any
    label: str
    is_write: bool
    attempt: AttemptResult
    left: float | None
    delay: Callable[[], float]

    @property
    def said(self) -> str:
        """What the attempt said, on lines of its own."""
        return "\n" + self.attempt.error.strip()

    @property
    def exited(self) -> str:
        """How a process ended; an exchange over HTTP has no exit code."""
        code = self.attempt.returncode
        return "" if code is None else f" (exit {code})"

    def error(self, outcome: Outcome) -> Exception:
        """The exception for an outcome."""
        error = self._error(outcome)
        setattr(error, ATTRIBUTE, outcome)
        return error

    def undecided(self, error: OutlastError) -> Exception:
        """The exception if nobody could decide: then the call stops."""
        return RuntimeError(
            f"omnigraph {self.label} failed{self.exited}:{self.said}\n"
            f"It was not tried again, because the policy could not be asked: {error}"
        )

    def _error(self, outcome: Outcome) -> Exception:
        if outcome.type == "conflict":
            return self._raised("OmnigraphConflict", self.attempt.error.strip())
        if outcome.type == "exhausted":
            return self._exhausted(outcome)
        kind = outcome.kind
        if kind == "storage_mismatch":
            return RuntimeError(
                self.omnigraph._friendly_storage_error(
                    self.attempt.error, self.client._STORAGE_MISMATCH_HINT
                )
            )
        if kind == "store_quarantined":
            return self._quarantined()
        if kind == "contract_violation" and self.is_write:
            return self._indeterminate(
                "was answered without exactly the expected HTTP contract stamp. ITS OUTCOME IS "
                "INDETERMINATE: the write may or may not have been applied. Re-read before retrying"
            )
        if kind == "recovery_required" and self.is_write:
            return self._indeterminate(
                "met a recovery barrier on the branch. ITS OUTCOME IS INDETERMINATE: the write may "
                "already have landed, wholly or partly, and the answer does not say which. Re-read "
                "before retrying, since a blind retry would write it twice"
            )
        if kind == "precondition_failed":
            return RuntimeError(
                f"omnigraph {self.label} was refused: its stated precondition no longer holds, "
                "because the graph has moved since it was read. NOTHING WAS WRITTEN, and this "
                f"write must not be retried as it is; re-read and decide:{self.said}"
            )
        if kind == "full_text_rebuild_required":
            return RuntimeError(
                f"omnigraph {self.label} was refused: a full-text index needs an explicit rebuild "
                "for this engine version. Retrying will not clear it; ordinary (non-search) reads "
                f"are unaffected:{self.said}"
            )
        return RuntimeError(f"omnigraph {self.label} failed{self.exited}:{self.said}")

    def _exhausted(self, outcome: Outcome) -> Exception:
        count = outcome.budget_attempts
        if outcome.budget == "unavailable":
            return self._raised(
                "StoreUnavailable",
                f"omnigraph {self.label} failed after {count} attempts over "
                f"{outcome.budget_spent:.0f}s — could not connect to {self.client.server_url}:"
                f"{self.said}",
            )
        if outcome.budget == "admission_cap":
            return self._refused(outcome)
        if outcome.budget == "recovery":
            return RuntimeError(
                f"omnigraph {self.label} failed after {count} attempts — a recovery barrier on the "
                f"branch kept blocking the read:{self.said}"
            )
        if outcome.kind == "conflict" and self.is_write and hasattr(self.omnigraph, CONTENTION):
            return self._raised(
                CONTENTION,
                f"omnigraph {self.label} lost {count} optimistic-concurrency races in a row"
                f"{self.exited} — another writer kept committing to the same tables. Nothing was "
                f"written; retry once the other writer is done:{self.said}",
            )
        return RuntimeError(f"omnigraph {self.label} failed{self.exited}:{self.said}")

    def _refused(self, outcome: Outcome) -> Exception:
        if outcome.reason != "call":
            return self._raised(
                "AdmissionCapExceeded",
                f"omnigraph {self.label} failed after {outcome.budget_attempts} attempts (actor "
                f"admission cap exceeded):{self.said}",
            )
        hint = self.attempt.retry_after
        asked = (
            "and the backoff before another attempt is"
            if hint is None
            else f"which asked to be retried in {hint:.0f}s,"
        )
        delay = self.delay() if hint is None else hint
        return self._raised(
            "AdmissionCapExceeded",
            f"omnigraph {self.label} was refused by the server's admission cap, {asked} longer "
            f"than the {max(self.left or 0.0, 0.0):.1f}s this call has left. Nothing was written; "
            f"retry in {delay:.0f}s:{self.said}",
        )

    def _quarantined(self) -> Exception:
        operation = self.omnigraph.sidecar_operation_id(self.attempt.error)
        named = f" (sidecar operation {operation})" if operation else ""
        return self._raised(
            "StoreQuarantined",
            f"omnigraph {self.label} was refused: the store is quarantined by an unresolved OCC "
            f"recovery sidecar{named}. Reads, writes and `omnigraph repair` are all blocked until "
            f"an operator resolves it — see {self.omnigraph.RUNBOOK_URL}. Retrying will not clear "
            f"it:{self.said}",
            operation,
        )

    def _indeterminate(self, what: str) -> Exception:
        return self._raised("WriteIndeterminate", f"omnigraph {self.label} {what}:{self.said}")

    def _raised(self, name: str, *args: object) -> Exception:
        """An exception of witan-core's; of a release that lacks it, its base."""
        kind: type[Exception] = getattr(self.omnigraph, name, RuntimeError)
        return kind(*args)


CONTENTION = "WriteContention"

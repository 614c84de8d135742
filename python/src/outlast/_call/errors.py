"""The exceptions of a policy and of the plugin. Those of a call are beside its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from .result import Result


class OutlastError(Exception):
    """What this package raises."""


@dataclass(frozen=True)
class Fault:
    """One fault of a policy document.

    Attributes:
        field: Where, such as ``budgets.unavailable.max_wait``.
        message: What is wrong, and what would be right.
    """

    field: str
    message: str


class PolicyError(OutlastError, ValueError):
    """A policy cannot be used.

    Attributes:
        name: The policy, as the caller gave it.
        code: ``"invalid_policy"``, ``"unknown_policy"`` or ``"unreadable"``.
        faults: All that is wrong with a document.
    """

    def __init__(self, name: str, code: str, message: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(name, code, message, faults)
        self.name = name
        self.code = code
        self.message = message
        self.faults = faults

    def __str__(self) -> str:
        text = f"outlast: policy {self.name}: {self.message}"
        for fault in self.faults:
            text += f"\n  {fault.field or 'document'}: {fault.message}"
        return text


class PluginError(OutlastError):
    """The plugin cannot be used, or failed. What a call has spent of its
    budgets is lost then, so it must stop.

    Attributes:
        doing: What was being done.
        message: What went wrong.
        code: The plugin's code for it, such as ``"bad_state"``; ``""`` if it
            did not come so far.
        field: The member of the request that the plugin complains of, or ``""``.
        result: The call's last result, which nothing here takes away.
    """

    def __init__(
        self,
        doing: str,
        message: str,
        *,
        code: str = "",
        field: str = "",
        result: Result | None = None,
    ) -> None:
        super().__init__(doing, message)
        self.doing = doing
        self.message = message
        self.code = code
        self.field = field
        self.result = result

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.code, self.field) if part)
        return f"outlast: {self.doing}: {where + ': ' if where else ''}{self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(
            PluginError,
            self.doing,
            self.message,
            code=self.code,
            field=self.field,
            result=self.result,
        )
        return (again, ())

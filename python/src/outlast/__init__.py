"""Rides out a server's restart: a deadline-retry policy in WebAssembly.

Nothing of the plugin is loaded before a call's first failure.
"""

from __future__ import annotations

from typing import Any

from ._action import Action, Matched, Retry, Stop, Wake, Why
from ._call import Call
from ._command import Completed, run_command
from ._decorator import outcome_of, retry
from ._errors import (
    CallError,
    Cancelled,
    Conflict,
    Exhausted,
    Failed,
    Fault,
    Indeterminate,
    OutlastError,
    PluginError,
    PolicyError,
    PreconditionFailed,
)
from ._exceptions import result_of
from ._info import info
from ._outcome import Attempt, Outcome
from ._plugin import Plugin, default_plugin
from ._policy import Policy
from ._result import Result
from ._session import Session
from ._version import __version__
from ._warnings import SurprisingValueWarning


def __getattr__(name: str) -> Any:
    """The modules `events`, `hooks`, `journal`, `ready` and `testing`, loaded when asked for."""
    if name in ("events", "hooks", "journal", "ready", "testing"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Action",
    "Attempt",
    "Call",
    "CallError",
    "Cancelled",
    "Completed",
    "Conflict",
    "Exhausted",
    "Failed",
    "Fault",
    "Indeterminate",
    "Matched",
    "Outcome",
    "OutlastError",
    "Plugin",
    "PluginError",
    "Policy",
    "PolicyError",
    "PreconditionFailed",
    "Result",
    "Retry",
    "Session",
    "Stop",
    "SurprisingValueWarning",
    "Wake",
    "Why",
    "__version__",
    "default_plugin",
    "info",
    "outcome_of",
    "result_of",
    "retry",
    "run_command",
]

"""Rides out a server's restart: a deadline-retry policy in WebAssembly.

Nothing of the plugin is loaded before a call's first failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._call.action import Action, Matched, Retry, Stop, Wake, Why
from ._call.call import Call
from ._call.errors import Fault, OutlastError, PluginError, PolicyError
from ._call.exceptions import result_of
from ._call.outcome import (
    Attempt,
    CallError,
    Cancelled,
    Conflict,
    Exhausted,
    Failed,
    Indeterminate,
    Outcome,
    PreconditionFailed,
)
from ._call.result import Result
from ._call.warnings import SurprisingValueWarning
from ._command.run import Completed, run_command
from ._evidence.watch import unwatch
from ._plugin.info import info
from ._plugin.plugin import Plugin, default_plugin, warm_up
from ._policy.folder import Release
from ._policy.session import Session
from ._run.attempts import Attempts, AttemptsOptions, attempts
from ._run.decorator import outcome_of, retry
from ._run.options import RunOptions
from ._run.overrides import CallOptions, options
from ._run.policy import Policy
from ._version import __version__

if TYPE_CHECKING:
    from . import clients as clients
    from . import events as events
    from . import hooks as hooks
    from . import journal as journal
    from . import ready as ready
    from . import testing as testing


def __getattr__(name: str) -> Any:
    """The modules that are loaded when asked for."""
    if name in ("clients", "events", "hooks", "journal", "ready", "testing"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Action",
    "Attempt",
    "Attempts",
    "AttemptsOptions",
    "Call",
    "CallError",
    "CallOptions",
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
    "Release",
    "Result",
    "Retry",
    "RunOptions",
    "Session",
    "Stop",
    "SurprisingValueWarning",
    "Wake",
    "Why",
    "__version__",
    "attempts",
    "default_plugin",
    "info",
    "options",
    "outcome_of",
    "result_of",
    "retry",
    "run_command",
    "unwatch",
    "warm_up",
]

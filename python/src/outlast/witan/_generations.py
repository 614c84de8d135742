"""What is where in the generations of witan-core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A constant of witan-core's that is a number of a policy's budget.

    Attributes:
        budget: The budget's name.
        field: ``"max_wait"``, ``"attempts"``, ``"base"`` or ``"cap"``.
    """

    budget: str
    field: str


@dataclass(frozen=True)
class Helper:
    """One of witan-core's functions from the number of a failure to its delay.

    Attributes:
        budget: The budget whose schedule it is.
        base: The constant that it gives to ``_jittered_backoff``; ``""``: it
            does not call that.
        cap: Likewise.
    """

    budget: str
    base: str = ""
    cap: str = ""


@dataclass(frozen=True, eq=False)
class Generation:
    """A generation of witan-core: releases whose code decides alike.

    Attributes:
        file: The policy's document.
        numbers: Constants that are numbers of it.
        markers: Constants that are words of it, with the words that the document
            has for them; those named ``http.…`` are of the module of HTTP.
        exit_codes: Constants that are exit codes of it, likewise.
        helpers: The backoff helpers.
    """

    file: str
    numbers: Mapping[str, Number]
    markers: Mapping[str, tuple[str, ...]]
    exit_codes: Mapping[str, int]
    helpers: Mapping[str, Helper]


_NUMBERS = {
    "_UNAVAILABLE_MAX_WAIT": Number("unavailable", "max_wait"),
    "_UNAVAILABLE_BASE_DELAY": Number("unavailable", "base"),
    "_UNAVAILABLE_MAX_DELAY": Number("unavailable", "cap"),
    "_ADMISSION_CAP_MAX_ATTEMPTS": Number("admission_cap", "attempts"),
    "_ADMISSION_CAP_BASE_DELAY": Number("admission_cap", "base"),
    "_ADMISSION_CAP_MAX_DELAY": Number("admission_cap", "cap"),
    "_MAX_ATTEMPTS": Number("conflict", "attempts"),
}

_HELPERS = {
    "_unavailable_backoff": Helper(
        "unavailable", "_UNAVAILABLE_BASE_DELAY", "_UNAVAILABLE_MAX_DELAY"
    ),
    "_admission_cap_backoff": Helper(
        "admission_cap", "_ADMISSION_CAP_BASE_DELAY", "_ADMISSION_CAP_MAX_DELAY"
    ),
}

_STORAGE_MARKERS = ("stamped at internal schema", "reads only")

TWO_TRANSPORTS = Generation(
    file="witan-core.json",
    numbers={
        **_NUMBERS,
        "_RECOVERY_MAX_ATTEMPTS": Number("recovery", "attempts"),
        "_RECOVERY_BASE_DELAY": Number("recovery", "base"),
        "_RECOVERY_MAX_DELAY": Number("recovery", "cap"),
        "_CONFLICT_BASE_DELAY": Number("conflict", "base"),
        "_CONFLICT_MAX_DELAY": Number("conflict", "cap"),
    },
    markers={
        "_STORAGE_VERSION_MISMATCH_MARKERS": _STORAGE_MARKERS,
        "_CLI_CONTRACT_VIOLATION": ("this request's effects are unknown",),
        "_UNAVAILABLE_MARKERS": (
            "tcp connect error",
            "dns error",
            "server discovery connection failed",
            "server discovery timed out",
        ),
        "_GRAPH_NOT_YET_SERVING": (
            "graph is loading",
            "graph admission is closed for a serving transition",
        ),
        "_ADMISSION_CAP_MARKERS": (
            "in-flight count cap",
            "byte budget exceeded",
            "too_many_requests",
        ),
        "_PRECONDITION_FAILED": ("precondition_failure", "precondition failed"),
        "_RECOVERY_REQUIRED": ("recovery required", "recovery_required"),
        "_FULL_TEXT_REBUILD_REQUIRED": (
            "rebuild-full-text-indexes",
            "full_text_index_rebuild_required",
        ),
        "_NEEDS_REPAIR": (
            "ahead of manifest",
            "ahead of published dataset version",
            "omnigraph repair",
        ),
        "_RETRYABLE": (
            "stale view",
            "manifest table version",
            "expected published dataset version",
            "refresh and retry",
            "write authority",
            "reprepare from the current branch",
        ),
        "http.QUARANTINE_MARKERS": ("occ recovery sidecar", "manifest delta differs"),
        "http.GRAPH_BLOCKED_MARKER": ("graph is unavailable; an operator must",),
    },
    exit_codes={"_EXIT_RETRY": 75},
    helpers={
        **_HELPERS,
        "_recovery_backoff": Helper("recovery", "_RECOVERY_BASE_DELAY", "_RECOVERY_MAX_DELAY"),
        "_conflict_backoff": Helper("conflict"),
    },
)
"""Command line and HTTP: 0.41.0 to 0.45.0, which decide alike."""

COMMAND_LINE = Generation(
    file="witan-core-0.8.0.json",
    numbers=_NUMBERS,
    markers={
        "_STORAGE_VERSION_MISMATCH_MARKERS": _STORAGE_MARKERS,
        "_UNAVAILABLE_MARKERS": ("tcp connect error", "dns error"),
        "_ADMISSION_CAP_MARKERS": ("in-flight count cap", "byte budget exceeded"),
        "_NEEDS_REPAIR": ("ahead of manifest", "omnigraph repair"),
        "_RETRYABLE": ("stale view", "manifest table version", "refresh and retry"),
    },
    exit_codes={},
    helpers=_HELPERS,
)
"""The command line only: 0.8.0."""

GENERATIONS = {"0.45.0": TWO_TRANSPORTS, "0.8.0": COMMAND_LINE}
"""By the release whose loop a generation's document equals."""

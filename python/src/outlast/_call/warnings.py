"""Warnings on values that are allowed, and are probably not meant."""

from __future__ import annotations

import sys
import warnings

SECONDS_PER_DAY = 86_400.0


class SurprisingValueWarning(UserWarning):
    """A value is allowed, and is probably not what was meant."""


def warn(message: str) -> None:
    """Warn the caller of this package, wherever in it that was noticed."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _inside(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    warnings.warn(f"outlast: {message}", SurprisingValueWarning, stacklevel=level)


def _inside(module: str) -> bool:
    return module == "outlast" or module.startswith("outlast.") or module == "dataclasses"

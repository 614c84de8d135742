"""The releases of witan-core that are known: a list that a command makes.

``./check.sh matrix`` runs a release's own tests without and with the plugin, and
writes known.json, the only place where releases stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("known.json")


@dataclass(frozen=True)
class Known:
    """A release whose own tests pass as well with the plugin as without.

    Attributes:
        version: Such as ``"0.45.0"``.
        sdist: The SHA-256 of its source distribution on PyPI.
        code: The SHA-256 of what decides in it, and of what that hands over.
        document: The release whose document equals its loop.
        own: How many of its tests pass with its own loop.
        plugin: How many of them pass with the plugin.
        decided: In how many of these the plugin decided.
    """

    version: str
    sdist: str
    code: str
    document: str
    own: int
    plugin: int
    decided: int


@cache
def known() -> tuple[Known, ...]:
    """All known releases, the oldest first."""
    return tuple(Known(**entry) for entry in json.loads(FILE.read_text("utf-8")))


def listed(versions: Iterable[str]) -> str:
    """Versions as they stand in a sentence: ``"0.8.0, 0.44.1 and 0.45.0"``."""
    *first, last = versions
    return f"{', '.join(first)} and {last}" if first else last

"""Begins to watch, with the first attempt of a process."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from .unseen import not_known, unwatched

if TYPE_CHECKING:
    from .patches import Patches

_patches: Patches | None = None  # once something was watched
_off = False
_beginning = threading.Lock()

OFF = "outlast.unwatch() has ended the watching"
"""Half a watch would be worse than none: what others have wrapped stays in place."""


def install() -> None:
    """Watch, unless that was ended: what is loaded now, and the rest once it is."""
    global _patches
    if _off or (_patches is not None and _patches.installed):
        return
    from . import handing, places

    with _beginning:  # twice in place, what watches would count each request twice
        if _patches is None:
            _patches = places.patches()
            try:
                sys.addaudithook(handing.audit)  # there is no way to take one away
            except RuntimeError:  # another one does not allow it
                not_known("an audit hook of this program")
    _patches.install()


def unwatch() -> None:
    """Take away all that watches requests, for the rest of the process.

    Attempts are made as ever, but nobody sees what they send: a write is tried
    again only where its caller says ``only_request=True``, or its result ``sent="no"``.
    """
    global _off
    _off = True
    unwatched.add(OFF)
    if _patches is not None:
        _patches.remove()

"""Whether calls are made again at all. :mod:`outlast.testing` says so."""

from __future__ import annotations

off = False
"""Each call makes one attempt."""


def turn(now_off: bool) -> bool:
    """Turn retries off, or on again, for the whole process, and get what was before."""
    global off
    before, off = off, now_off
    return before

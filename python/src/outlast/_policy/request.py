"""A call as a request says it to the plugin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._call.errors import PluginError
from .._wire import values as wire

if TYPE_CHECKING:
    from .._plugin.plugin import Plugin
    from .._wire.types import WireCall

MINOR_CLAIMS = 2
"""The minor version of the contract that brought a call's ``repeatable`` and
``one_request``."""


def told(members: WireCall, plugin: Plugin) -> WireCall:
    """A call in words that a plugin knows.

    Raises:
        PluginError: If it has none for what must not go unsaid: that the write
            may be repeated in doubt, or must not be on what it reports.
    """
    claims = {"one_request", "repeatable"} & members.keys()
    if not claims or plugin.knows(MINOR_CLAIMS):
        return members
    if members["write"] and ("repeatable" in claims or members.get("one_request") is False):
        raise PluginError(
            "deciding",
            f"the plugin is of a contract before 1.{MINOR_CLAIMS}, which has no word for a write "
            "that is repeatable or may make several requests",
        )
    known = members.copy()
    known.pop("one_request", None)
    known.pop("repeatable", None)
    return known


def random_seed(seed: int | None) -> int:
    """The seed of the jitter. A random one if the caller has none: else all
    callers that a restart met together would come back together.
    """
    if seed is None:
        return int.from_bytes(os.urandom(8), "big") % wire.SEED_RANGE
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"outlast: seed is {seed!r}, and must be an int")
    if not 0 <= seed < wire.SEED_RANGE:
        raise ValueError(f"outlast: seed is {seed}, and must be from 0 to {wire.SEED_RANGE - 1}")
    return seed

"""What a hook is."""

from __future__ import annotations

from collections.abc import Callable

from ..events import Event

Hook = Callable[[Event], object]
"""Is told of an event. It must be quick, since the call waits for it. What it
raises is logged and goes no further: no metric may end a call."""

"""Which hooks are in force."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..events import Event
from ._default import default_hooks
from ._hook import Hook

_hooks: tuple[Hook, ...] | None = None

log = logging.getLogger("outlast")


def set_hooks(hooks: Iterable[Hook] | None) -> None:
    """Choose the hooks of the whole process.

    Args:
        hooks: All that shall be told; ``()``: nobody; ``None``: the default
            ones again.
    """
    global _hooks
    _hooks = None if hooks is None else tuple(hooks)


def get_hooks() -> tuple[Hook, ...]:
    """The hooks in force."""
    if _hooks is None:
        return default_hooks()
    return _hooks


def tell(event: Event, hooks: Iterable[Hook]) -> None:
    """Tell hooks of an event."""
    for hook in hooks:
        try:
            hook(event)
        except Exception:
            log.exception("outlast: a hook failed at %s", type(event).__name__)

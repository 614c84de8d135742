"""Events to the standard library's logging."""

from __future__ import annotations

import logging

from ..events import Event
from ._lines import line_of


class LoggingHook:
    """Logs events; an event's fields are in the record as ``outlast``.

    Args:
        logger: Where to; ``None``: the logger ``outlast``.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("outlast")

    def __call__(self, event: Event) -> None:
        """Log the event."""
        line = line_of(event)
        if line is not None:
            label = event.call.label
            self._logger.log(
                line.level,
                "%s%s",
                f"{label}: " if label else "",
                line.message,
                extra={"outlast": line.fields},
            )

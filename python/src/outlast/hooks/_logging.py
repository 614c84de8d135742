"""Events to the standard library's logging."""

from __future__ import annotations

import logging

from ._lines import Line
from ._outages import LogHook


class LoggingHook(LogHook):
    """Logs events; an event's fields are in the record as ``outlast``. Of many calls in one
    outage it logs the first, and counts the rest.

    Args:
        logger: Where to; ``None``: the logger ``outlast``.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__()
        self._logger = logger or logging.getLogger("outlast")

    def write(self, line: Line) -> None:
        """Log a line."""
        label = line.fields.get("label")
        self._logger.log(
            line.level,
            "%s%s",
            f"{label}: " if label else "",
            line.message,
            extra={"outlast": line.fields},
        )

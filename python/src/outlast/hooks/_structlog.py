"""Events to structlog."""

from __future__ import annotations

import logging
from typing import Any

from ._lines import Line
from ._outages import LogHook


class StructlogHook(LogHook):
    """Logs events with structlog, each field of an event as a key. Of many calls in one
    outage it logs the first, and counts the rest.

    Args:
        logger: Where to; ``None``: ``structlog.get_logger("outlast")``, asked
            for at the first event, so that structlog can be configured before.
    """

    def __init__(self, logger: Any = None) -> None:
        super().__init__()
        self._logger = logger

    def write(self, line: Line) -> None:
        """Log a line."""
        if self._logger is None:
            import structlog

            self._logger = structlog.get_logger("outlast")
        method = getattr(self._logger, logging.getLevelName(line.level).lower())
        method(f"outlast: {line.message}", **line.fields)

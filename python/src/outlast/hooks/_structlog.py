"""Events to structlog."""

from __future__ import annotations

import logging
from typing import Any

from ..events import Event
from ._lines import line_of


class StructlogHook:
    """Logs events with structlog, each field of an event as a key.

    Args:
        logger: Where to; ``None``: ``structlog.get_logger("outlast")``, asked
            for at the first event, so that structlog can be configured before.
    """

    def __init__(self, logger: Any = None) -> None:
        self._logger = logger

    def __call__(self, event: Event) -> None:
        """Log the event."""
        line = line_of(event)
        if line is None:
            return
        if self._logger is None:
            import structlog

            self._logger = structlog.get_logger("outlast")
        method = getattr(self._logger, logging.getLevelName(line.level).lower())
        method(f"outlast: {line.message}", **line.fields)

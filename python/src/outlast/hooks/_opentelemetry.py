"""Events to OpenTelemetry."""

from __future__ import annotations

from typing import Any

from ..events import AttemptEnded, Event
from ._lines import line_of


class OpenTelemetryHook:
    """Adds events to the span in which the call is made, with their fields as
    attributes under ``outlast.``. Without a span that is recorded it does nothing.
    """

    def __call__(self, event: Event) -> None:
        """Add the event to the current span."""
        from opentelemetry.trace import get_current_span

        span = get_current_span()
        if not span.is_recording() or isinstance(event, AttemptEnded):
            return
        line = line_of(event)
        if line is None:
            return
        attributes: dict[str, Any] = {
            f"outlast.{name}": value for name, value in line.fields.items() if value is not None
        }
        span.add_event(f"outlast.{_snake(type(event).__name__)}", attributes)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")

"""What keeps a write from being made."""

from __future__ import annotations

from .._call.errors import OutlastError


class JournalError(OutlastError):
    """The journal cannot be used; the write must not be made."""


class InDoubt(JournalError):
    """An earlier run with the key may have applied the write.

    Attributes:
        record: The record's name, for ``outlast journal settle``.
    """

    def __init__(self, key: str, record: str, began: str) -> None:
        super().__init__(
            f"outlast: a run of the journal's key {key} that began at {began} may have been "
            f"applied: look, and say so with outlast journal settle {record} --applied, "
            "or --not-applied"
        )
        self.record = record

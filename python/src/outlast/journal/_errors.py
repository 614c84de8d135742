"""What keeps a write from being made."""

from __future__ import annotations

import shlex
from pathlib import Path

from .._call.errors import OutlastError


class JournalError(OutlastError):
    """The journal cannot be used; the write must not be made."""


class InDoubt(JournalError):
    """An earlier run with the key may have applied the write.

    Attributes:
        record: The record's name, for ``outlast journal settle``.
    """

    def __init__(self, key: str, record: str, began: str, journal: Path) -> None:
        super().__init__(
            f"outlast: a run of the journal's key {key} that began at {began} may have been "
            f"applied: look, and say so with {command(journal, 'settle', record)} --applied, "
            "or --not-applied"
        )
        self.record = record


def command(journal: Path, verb: str, record: str) -> str:
    """The command line with which a person looks at a record, or settles it, from
    wherever that person is.
    """
    return f"outlast journal {verb} --journal {shlex.quote(str(journal.absolute()))} {record}"

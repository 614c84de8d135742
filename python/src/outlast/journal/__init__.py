"""Remembers which writes were under way, so that a rerun applies none twice.

A journal is a directory that the command ``outlast run --journal`` and Go use
too; ``docs/journal.md`` has its format. Before an attempt, what is about to be
done is on disk; after the call, how it ended. A run that was killed in between
is in doubt, and `Journal.begin` refuses another with the same key until a
person has said with ``outlast journal settle`` what became of it. Linux and
macOS.
"""

from __future__ import annotations

from ._errors import InDoubt, JournalError
from ._journal import Journal, Run
from ._records import Earlier, State

__all__ = ["Earlier", "InDoubt", "Journal", "JournalError", "Run", "State"]

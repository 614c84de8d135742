"""How a request failed, in one word, and the result that is made of it."""

from __future__ import annotations

from typing import Literal

from .known import line
from .result import Failure, Result

Word = Failure | Literal["timed_out"]
"""How a request failed; the last says that no answer came in time."""


def failed(word: Word | None, error: BaseException) -> Result | None:
    """The result of a request that failed so; ``None`` if that is not known."""
    if word is None:
        return None
    if word == "timed_out":
        return Result(timed_out=True, message=line(error))
    return Result(failure=word, message=line(error))

"""What the plugin answers: an envelope around a value or an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._call.errors import Fault, PluginError
from .._call.result import Result

ABI_MAJOR = 1
"""The version of the contract that this package speaks."""

INTERNAL = "internal"
"""The code of an error that is a fault of the plugin: its instance is lost."""


class AnswerError(Exception):
    """The error of an envelope.

    Attributes:
        code: What sort of error, such as ``"bad_request"``.
        message: For people.
        field: The member of the request that it is about, or ``""``.
        faults: Of an invalid policy: all of them.
    """

    def __init__(self, code: str, message: str, field: str, faults: tuple[Fault, ...]) -> None:
        super().__init__(f"{code}: {field}: {message}" if field else f"{code}: {message}")
        self.code = code
        self.message = message
        self.field = field
        self.faults = faults

    def refusal(self, doing: str, result: Result | None) -> PluginError:
        """The error for callers: the plugin has refused a request about a result."""
        return PluginError(doing, self.message, code=self.code, field=self.field, result=result)


def is_answer(error: BaseException) -> bool:
    """Whether an error is what a sound plugin answered, not a fault of it."""
    return isinstance(error, AnswerError) and error.code != INTERNAL


def open_envelope(data: bytes) -> Mapping[str, Any]:
    """What an answer has as ``ok``.

    Raises:
        AnswerError: If it has an error instead; of the code ``internal`` if it
            is no envelope of this version.
    """
    try:
        envelope = json.loads(data)
        version = envelope["v"]
        error = envelope.get("error")
        ok = envelope.get("ok")
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise AnswerError(INTERNAL, f"the plugin's answer is no envelope: {e!r}", "", ()) from e
    if version != ABI_MAJOR:
        raise AnswerError(INTERNAL, f"the plugin's answer has the version {version!r}", "v", ())
    if isinstance(error, dict):
        faults = tuple(
            Fault(f.get("field", ""), f.get("message", "")) for f in error.get("faults", ())
        )
        raise AnswerError(
            error.get("code", INTERNAL), error.get("message", ""), error.get("field", ""), faults
        )
    if not isinstance(ok, dict):
        raise AnswerError(INTERNAL, "the plugin's answer has neither ok nor error", "", ())
    return ok

"""What stands in for witan-core's classifiers and its failure text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._call.action import Retry
from .._call.call import Call
from .._call.errors import OutlastError
from .._call.result import Result

if TYPE_CHECKING:
    from ._modules import Modules

OK = "ok"
FATAL = "fatal"

NAMES = {"conflict": "retryable", "failed": FATAL}
"""Kinds of the policy that witan-core calls otherwise."""

STAND_INS = {
    "unavailable": Result(message="could not connect to "),
    "admission_cap": Result(http_status=429),
    "retryable": Result(http_status=409),
    "needs_repair": Result(http_status=500, message="omnigraph repair"),
    "precondition_failed": Result(http_status=412),
    "recovery_required": Result(http_status=503, message="recovery required"),
    "store_quarantined": Result(
        http_status=500, message="occ recovery sidecar: manifest delta differs"
    ),
    "full_text_rebuild_required": Result(http_status=500, message="rebuild-full-text-indexes"),
    "contract_violation": Result(
        http_status=500, message="response did not carry exactly one header"
    ),
}
"""For each kind a result that the policy takes for it. It decides about a
failure whose kind came from somebody else, such as a transport of a caller's own."""

CALL = Call(remote=True, write=False)
"""What a kind is does not depend on the call."""

UNKNOWN = Result(http_status=500)
"""The stand-in for every other kind."""


class Kind(str):
    """A kind in witan-core's words, with the result that it was recognised from."""

    __slots__ = ("evidence",)
    evidence: Result

    @classmethod
    def of(cls, name: str, evidence: Result) -> Kind:
        kind = cls(name)
        kind.evidence = evidence
        return kind


class Output(str):
    """The text of a failed command that is searched, with the whole of its output."""

    __slots__ = ("stderr", "stdout")
    stdout: str
    stderr: str

    @classmethod
    def of(cls, text: str, stdout: str, stderr: str) -> Output:
        output = cls(text)
        output.stdout, output.stderr = stdout, stderr
        return output


class Recognition:
    """The functions that witan-core's modules get."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def cli_failure(self, stdout: str, stderr: str) -> Any:
        """``_cli_failure``: what to show of a failed command, and what to search."""
        omnigraph = self._modules.omnigraph
        shown = searched = stderr
        if not stderr.strip():
            error = _error_object(stdout)
            if error is not None:
                searched = stdout
                status, code = error.get("http_status"), error.get("code")
                if isinstance(status, int):
                    shown = omnigraph._http.error_message(status, stdout)
                else:
                    shown = f"{error['error']} ({code})" if code else error["error"]
        return omnigraph._CliFailure(shown, Output.of(searched, stdout, stderr))

    def classify_cli_error(self, stderr: str, returncode: int | None = None) -> str:
        """``_classify_cli_error``: the kind of a failed command."""
        stdout = ""
        if isinstance(stderr, Output):
            stdout, stderr = stderr.stdout, stderr.stderr
        # Whoever asks has a failure at hand, whatever its exit code is.
        return self._kind(Result.from_process(returncode or 1, stdout, stderr))

    def classify_status(self, status: int, message: str) -> str:
        """``classify_status``: the kind of a failed HTTP exchange."""
        return self._kind(Result(http_status=status, message=message))

    def _kind(self, result: Result) -> str:
        try:
            session = self._modules.classifier().session(CALL, 0)
            action = session.next(result, 0.0, 0.0)
        except OutlastError:
            # The loop will ask again, and tell of the error.
            return Kind.of(FATAL, result)
        kind = action.kind if isinstance(action, Retry) else action.outcome.kind
        return Kind.of(NAMES.get(kind, kind) or FATAL, result)  # "" is of a success


def _error_object(stdout: str) -> dict[str, Any] | None:
    """The JSON object with a text called ``error`` that stdout may be."""
    try:
        parsed = json.loads(stdout)
    except ValueError:
        return None
    if isinstance(parsed, dict) and isinstance(parsed.get("error"), str):
        return parsed
    return None

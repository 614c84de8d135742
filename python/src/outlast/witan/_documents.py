"""The policies' documents, with the numbers and words that witan-core has now."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .._call.errors import PolicyError
from .._policy.bundled import built_in
from .._run.policy import Policy
from ._generations import GENERATIONS, Generation
from ._known import known, listed

MAX_ATTEMPTS = 10_000
"""The most attempts that a budget may have."""

Constants = tuple[tuple[str, Any], ...]
"""Constants of witan-core's and their values, in the order of their names."""


def document(version: str = "0.45.0") -> dict[str, Any]:
    """The policy that equals a release of witan-core, as a document.

    Args:
        version: A known release's, such as ``"0.45.0"``.

    Raises:
        ValueError: If the release is not known.
        PolicyError: If the package lacks the file: install it again.
    """
    documents = {release.version: release.document for release in known()}
    if version not in documents:
        raise ValueError(
            f"outlast: there is no document for witan-core {version}, only for {listed(documents)}"
        )
    return copy.deepcopy(_read(GENERATIONS[documents[version]].file))


def constants(generation: Generation, omnigraph: ModuleType, http: ModuleType | None) -> Constants:
    """What witan-core's constants are at this moment."""
    names = sorted((*generation.numbers, *generation.markers, *generation.exit_codes))
    return tuple((name, _hashable(_constant(name, omnigraph, http))) for name in names)


def _constant(name: str, omnigraph: ModuleType, http: ModuleType | None) -> Any:
    in_http = name.removeprefix("http.")
    return getattr(omnigraph, name) if in_http == name else getattr(http, in_http)


@lru_cache(maxsize=64)
def policy(
    generation: Generation, values: Constants, storage: bool, heard: frozenset[str]
) -> Policy:
    """The policy with these constants. Asking again gives the same object.

    Args:
        generation: Whose policy.
        values: The constants.
        storage: Whether a store of another version is recognised: that is so
            for clients which have a hint to give.
        heard: Budgets whose delays the caller brings, as a Retry-After.
    """
    derived = _derive(generation, values)
    for name in heard:
        derived["budgets"][name]["retry_after"] = {"jitter": 0}
    if not storage:
        _drop(derived, lambda _condition: False, "storage_mismatch")
    return Policy(derived, check=False)


@lru_cache(maxsize=64)
def classifier(generation: Generation, values: Constants) -> Policy:
    """The policy as a classifier of what a command or a server says. It does not
    know the texts in which witan-core's own transport tells of a failure: a
    server may say the same.
    """
    derived = _derive(generation, values)
    _drop(derived, _is_of_transport, "storage_mismatch")
    return Policy(derived, check=False)


def _is_of_transport(condition: dict[str, Any]) -> bool:
    return condition.get("transport") == "http" and any(
        "starts" in test for test in condition.get("text", ())
    )


def _drop(derived: dict[str, Any], unwanted: Callable[[dict[str, Any]], bool], kind: str) -> None:
    """Drop the rules of a kind, and the conditions that are not wanted."""
    rules = [rule for rule in derived["rules"] if rule["kind"] != kind]
    for rule in rules:
        if "when" in rule:
            rule["when"] = [c for c in rule["when"] if not unwanted(c)]
    derived["rules"] = [rule for rule in rules if rule.get("when", True)]


def _derive(generation: Generation, values: Constants) -> dict[str, Any]:
    """The document with these constants."""
    derived = copy.deepcopy(_read(generation.file))
    numbers: dict[str, dict[str, float]] = {}
    for name, value in values:
        if name in generation.markers:
            _set_words(derived, generation.markers[name], value, name.startswith("http."))
        elif name in generation.exit_codes:
            _set_exit_code(derived, generation.exit_codes[name], value)
        else:
            number = generation.numbers[name]
            numbers.setdefault(number.budget, {})[number.field] = value
    for budget, fields in numbers.items():
        _set_numbers(derived["budgets"][budget], fields)
    return derived


def _set_numbers(budget: dict[str, Any], fields: dict[str, float]) -> None:
    if "attempts" in fields:
        budget["attempts"] = max(1, min(math.ceil(fields["attempts"]), MAX_ATTEMPTS))
    if "max_wait" in fields:
        if fields["max_wait"] > 0:
            budget["max_wait"] = _duration(fields["max_wait"])
        else:  # no window at all: the first failure is the last
            del budget["max_wait"]
            budget["attempts"] = 1
    if "base" in fields:
        budget["backoff"] |= backoff(fields["base"], fields["cap"])


def backoff(base: float, cap: float) -> dict[str, str]:
    """The members of a backoff that say where it begins and ends, in seconds. A
    base of nothing stays nothing, and one above the cap is the cap.
    """
    base = min(base, cap)
    return {"base": _duration(base), "cap": _duration(cap if base > 0 else 0)}


def _duration(seconds: float) -> str:
    """A duration as a document says it: a microsecond at least."""
    return f"{max(1, round(seconds * 1e6))}us"


def _set_words(
    derived: dict[str, Any], words: tuple[str, ...], value: Any, everywhere: bool
) -> None:
    """Put other words in the place of those of a constant. No constant has the
    words that HTTP's classifier looks for itself.
    """
    now = [value] if isinstance(value, str) else list(value)
    for condition in _conditions(derived):
        if everywhere or condition.get("transport") != "http":
            for test in condition.get("text", ()):
                for how in ("any", "all"):
                    if tuple(test.get(how, ())) == words:
                        test[how] = now


def _set_exit_code(derived: dict[str, Any], code: int, value: int) -> None:
    for condition in _conditions(derived):
        if condition.get("exit_codes") == [code]:
            condition["exit_codes"] = [value]


def _conditions(derived: dict[str, Any]) -> list[dict[str, Any]]:
    return [condition for rule in derived["rules"] for condition in rule.get("when", ())]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


@cache
def _read(name: str) -> dict[str, Any]:
    path = _find(name)
    try:
        read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as e:
        raise PolicyError(str(path), "unreadable", f"cannot read the document: {e}") from e
    return read


def _find(name: str) -> Path:
    """A document's file: of this folder, or that of a policy which the plugin carries."""
    here = Path(__file__).with_name(name)
    return here if here.is_file() else built_in(here.stem)

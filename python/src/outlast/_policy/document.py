"""A policy as data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._call.errors import Fault, PolicyError
from .._plugin.envelope import AnswerError
from .._plugin.plugin import Plugin, default_plugin
from .._wire import values as wire
from .bundled import built_in, bundled

if TYPE_CHECKING:
    from typing import TypeGuard

    from typing_extensions import Self

    from .folder import Release

BUILT_IN = ("omnigraph", "witan-core", "network")
"""The policies that the plugin carries."""

FUNCTIONS = "network"
"""The one for functions, by default."""


class Document:
    """A policy as data: its name, its document, and how a request names it.
    :class:`outlast.Policy` adds the ways to carry out a call.
    """

    _published: Document | None = None

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] = FUNCTIONS,
        *,
        check: bool = True,
        plugin: Plugin | None = None,
    ) -> None:
        self._plugin = plugin or default_plugin()
        self._text = ""  # of a document that has not been checked
        self._whole = b""  # the same once it has been: normalised
        self._reference = b""  # what names the policy in a request
        self._digest = ""
        self._asks_failures: bool | None = None
        self._waited: frozenset[int] | None = None
        self._release: Release | None = None
        self._from(source)
        if check and not is_name(source):
            self.check()

    def _from(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        if isinstance(source, Mapping):
            self._name = str(source.get("name", "document"))
            self._text = _document(source, self._name)
        elif is_name(source):
            self._name = source
            self._from_name(source)
        elif isinstance(source, (str, os.PathLike)):
            self._name = os.fspath(source)
            self._text = _read(Path(source))
        else:
            raise TypeError(
                f"outlast: policy is of type {type(source).__name__}, and must be a name, a path "
                "or a mapping"
            )

    def _from_name(self, name: str) -> None:
        if name in BUILT_IN:
            self._reference = self._whole = wire.dumps(name)
            self._asks_failures = name == FUNCTIONS
        elif name in bundled():
            self._text = _read(bundled()[name])
        else:
            raise PolicyError(
                name,
                "unknown_policy",
                f"there is no such policy; built in are {', '.join(BUILT_IN)}, for common "
                f"commands there are {', '.join(bundled())}, and the path of a document ends in "
                ".json",
            )

    def check(self) -> Self:
        """Let the plugin check the document, if that has not been done, and get
        the policy itself.

        Raises:
            PolicyError: If the document has faults; all are listed.
            PluginError: If the plugin cannot be loaded.
        """
        if self._reference:
            return self
        try:
            ok = self._plugin.ask("check", self._text.encode())
        except AnswerError as e:
            faults = e.faults or (Fault(e.field, e.message),)
            count = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
            raise PolicyError(self._name, e.code, f"the document has {count}", faults) from e
        self._whole = wire.dumps(ok["policy"])
        self._digest = ok["digest"]
        self._name = ok["policy"]["name"]
        self._reference = wire.dumps(self._digest)
        return self

    @property
    def name(self) -> str:
        """What the policy calls itself."""
        return self._name

    @property
    def plugin(self) -> Plugin:
        """The plugin that decides."""
        return self._plugin

    @property
    def digest(self) -> str:
        """Identifies the policy: equal policies have equal digests. Loads the
        plugin.
        """
        if not self._digest:
            self.check()
        if not self._digest:
            policies = self._plugin.ask("describe", b"")["policies"]
            self._digest = next(p["digest"] for p in policies if p["name"] == self._name)
        return self._digest

    @property
    def document(self) -> dict[str, Any]:
        """A document with every default filled in. Loads the plugin.

        Raises:
            PolicyError: If it has faults.
            PluginError: If the plugin cannot be loaded.
        """
        self.check()
        if self._reference == self._whole:  # a built-in is known by its name
            return type(self)(json.loads(self._source()), plugin=self._plugin).document
        document: dict[str, Any] = json.loads(self._whole)
        return document

    def with_max_wait(self, seconds: float) -> Self:
        """The same policy with another window: that of each budget which has one. Its
        document is checked at the first failure. Of a policy that is followed, what is in
        force then is changed.

        Args:
            seconds: Above 0, from the first failure seen on.

        Raises:
            PolicyError: If no budget has a window; of a policy that is followed, at the
                first failure.
            TypeError: If *seconds* is no number.
            ValueError: If it is out of bounds.
        """
        return self._with(_with_max_wait, wire.duration(seconds, "max_wait"))

    def with_spread(self, seconds: float) -> Self:
        """The same policy with another spread: how far apart callers start that see their
        server return, each at a moment of its own within so long. It is that of each budget
        whose waits may be cut short; where there is none, nothing is changed. Otherwise as
        :meth:`with_max_wait`.

        Args:
            seconds: Above 0, and at most 3600. ``outlast verify --callers`` says how wide
                that of a fleet must be.

        Raises:
            TypeError: If *seconds* is no number.
            ValueError: If it is out of bounds.
        """
        return self._with(_with_spread, wire.duration(seconds, "spread", MAX_SPREAD))

    def _with(self, change: Callable[[Document, int], Document], us: int) -> Self:
        return change(self, us)  # type: ignore[return-value]

    def waits_for(self, status: int) -> bool:
        """Whether a rule that tries again may be one for an answer with an HTTP status.
        Where none is, no call goes on after such an answer, unless it had failed before.
        """
        if self._waited is None:
            self._waited = _waited(self._source())
        return status in self._waited or ANY in self._waited

    def _source(self) -> str:
        """The document as it was given, checked or not."""
        return self._text or _read(built_in(self._name))

    @property
    def release(self) -> Release | None:
        """Where it comes from; ``None`` for a policy that is not from a folder which is
        followed.
        """
        return self._release

    @property
    def published(self) -> Document:
        """The policy without what a caller has changed of it."""
        return self._published or self

    @property
    def asks_failures(self) -> bool:
        """Whether a rule asks how a host saw a request fail. Other documents know
        such failures by texts only.
        """
        if self._asks_failures is None:
            self._asks_failures = _asks(self._text)
        return self._asks_failures

    def in_force(self) -> tuple[Document, Exception | None]:
        """What a call goes by whose first failure is now, to its end; and, of a policy that
        is followed, why what is in the folder now is not it.
        """
        return self, None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self  # nothing in it changes

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs to have the same policy: of the plugin its file."""
        return {**vars(self), "_plugin": self._plugin._path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        path = state["_plugin"]
        self._plugin = default_plugin() if path is None else Plugin(path)

    # What a request needs.

    def _reference_text(self) -> bytes:
        """What names the policy in a request: a built-in by its name, a document
        by its digest, which an instance knows once it has met the document.
        """
        if not self._reference:
            self.check()
        return self._reference

    def _whole_text(self) -> bytes:
        """What has the whole document in a request, where an instance does not know it."""
        if not self._reference:
            self.check()
        return self._whole


def _asks(text: str) -> bool:
    """Whether a document asks for failures, be it right or not."""
    try:
        rules = json.loads(text).get("rules", ())
        return any("failures" in each for rule in rules for each in rule.get("when", ()))
    except (ValueError, TypeError, AttributeError):
        return False


def chosen(policy: Document | str, max_wait: float | None, spread: float | None) -> Document:
    """The policy that a caller names or gives, with another window and another spread if it
    wants them.
    """
    named = Document(policy) if isinstance(policy, str) else policy
    if max_wait is not None:
        named = named.with_max_wait(max_wait)
    return named if spread is None else named.with_spread(spread)


MAX_SPREAD = 3600 * wire.MICROS_PER_SECOND
"""Microseconds (a choice: far above any spread that keeps a fleet apart)."""


# A call that is made again gets the same from these two, checked once.


@lru_cache(maxsize=64)
def _with_max_wait(policy: Document, us: int) -> Document:
    document = json.loads(policy._source())
    windows = [b for b in document.get("budgets", {}).values() if "max_wait" in b]
    if not windows:
        raise PolicyError(policy.name, "invalid_policy", "no budget has a max_wait to be changed")
    for budget in windows:
        budget["max_wait"] = f"{us}us"
    return _changed(policy, document)


@lru_cache(maxsize=64)
def _with_spread(policy: Document, us: int) -> Document:
    document = json.loads(policy._source())
    wakes = [b["wake"] for b in document.get("budgets", {}).values() if b.get("wake")]
    if not wakes:
        return policy
    for wake in wakes:
        wake["spread"] = f"{us}us"
        # What bounds its growth must not be less.
        if "spread_cap" in wake and _micros(wake["spread_cap"]) < us:
            wake["spread_cap"] = wake["spread"]
    return _changed(policy, document)


def _changed(policy: Document, document: dict[str, Any]) -> Document:
    changed = type(policy)(document, check=False, plugin=policy.plugin)
    changed._release = policy._release
    changed._published = policy.published
    return changed


_UNITS = {"us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}


def _micros(duration: str) -> Decimal:
    """A duration of a document as microseconds. What is wrong with it, the plugin finds."""
    parts = re.findall(r"([0-9.]+)(us|ms|s|m|h)", duration)
    return sum((Decimal(number) * _UNITS[unit] for number, unit in parts), Decimal())


ANY = -1
"""Stands for each status."""

_OF_OTHERS = {"timed_out", "exit_codes", "signals"}
"""Conditions that no answer of HTTP can meet."""


def _waited(text: str) -> frozenset[int]:
    """The statuses that a document's rules name which try again."""
    found: set[int] = set()
    try:
        for rule in json.loads(text)["rules"]:
            if any("retry" in then for then in rule["then"]):
                conditions: list[dict[str, Any]] = rule.get("when") or [{}]
                for when in conditions:
                    if _may_be_an_answer(when):
                        found.update(when.get("http_statuses", (ANY,)))
    except (ValueError, TypeError, KeyError, AttributeError):
        return frozenset((ANY,))  # it has faults, of which the plugin tells
    return frozenset(found)


def _may_be_an_answer(when: Mapping[str, Any]) -> bool:
    failed = "none" not in when.get("failures", ("none",))
    return not (failed or _OF_OTHERS & when.keys() or when.get("transport") == "process")


def is_name(source: object) -> TypeGuard[str]:
    """Whether it names a policy that comes with outlast, and is not a path."""
    if not isinstance(source, str):
        return False
    return not source.endswith(".json") and os.path.basename(source) == source


def _document(source: Mapping[str, Any], name: str) -> str:
    try:
        text = json.dumps(dict(source), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as e:
        raise PolicyError(name, "invalid_policy", f"the document is not JSON: {e}") from e
    return _bounded(text, name)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(wire.MAX_DOCUMENT_BYTES + 1)
        return _bounded(data.decode("utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError) as e:
        raise PolicyError(str(path), "unreadable", f"cannot read the document: {e}") from e


def _bounded(text: str, name: str) -> str:
    if len(text.encode()) > wire.MAX_DOCUMENT_BYTES:
        raise PolicyError(
            name, "invalid_policy", f"the document has more than {wire.MAX_DOCUMENT_BYTES} bytes"
        )
    return text

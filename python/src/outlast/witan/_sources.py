"""Which release of witan-core is at hand, and whether it is known."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from .._call.errors import OutlastError
from ._generations import COMMAND_LINE, GENERATIONS, TWO_TRANSPORTS, Generation
from ._known import known, listed

SHARED = (
    "_jittered_backoff",
    "_admission_cap_backoff",
    "_unavailable_backoff",
    "_is_storage_version_mismatch",
    "_friendly_storage_error",
    "OmnigraphClient._repair",
)

HASHED: dict[Generation, tuple[str, ...]] = {
    TWO_TRANSPORTS: (
        *SHARED,
        "_conflict_backoff",
        "_recovery_backoff",
        "_classify_cli_error",
        "_cli_failure",
        "OmnigraphClient._retry_loop",
        "http.classify_status",
        "http.is_store_quarantined",
        "http.is_graph_blocked",
        "_AttemptResult",
        "_CliFailure",
        "http.Outcome",
    ),
    COMMAND_LINE: (*SHARED, "OmnigraphClient._execute", "OmnigraphClient._acquire_write_lock"),
}
"""What decides in each generation: all that is replaced, what it calls, and what
it is handed. Its constants are not hashed, since they are followed."""

UNKNOWN = "of an unknown version"


class UnsupportedVersionError(OutlastError):
    """This release of witan-core is not known: its own tests have not been run
    with the plugin, or its code is not what the release had.

    Attributes:
        version: The release, or ``"of an unknown version"``.
        sha256: The hash of what decides in it; ``""`` if it lacks some of that.
    """

    def __init__(self, version: str, sha256: str) -> None:
        super().__init__(version, sha256)
        self.version = version
        self.sha256 = sha256

    def __str__(self) -> str:
        versions = [release.version for release in known()]
        return (
            f"outlast: installing into witan-core {self.version}: {self._why(versions)}. Known are "
            f"{listed(versions)}. Nothing was changed: its own retry loop is in force. To add a "
            "release, run `./check.sh matrix VERSION` in the folder python of outlast's source: it "
            "runs the release's own tests with and without the plugin"
        )

    def _why(self, versions: list[str]) -> str:
        found = (
            f"the code that decides has the SHA-256 {self.sha256}"
            if self.sha256
            else "the code that decides is not where it is looked for, or was replaced"
        )
        if self.version == UNKNOWN:
            return f"{found}, which is no known release's"
        if self.version in versions:
            return f"{found}, so it is not as it was published"
        return f"this release is not known ({found})"


def recognise(omnigraph: ModuleType, http: ModuleType | None) -> Generation:
    """The generation of witan-core's modules, if they are of a known release.

    Modules beside which no distribution says which release they are, such as an
    unpacked archive's, are known by their code alone.

    Raises:
        UnsupportedVersionError: If they are of none.
    """
    version = version_of(omnigraph)
    generation, sha256 = shape(omnigraph, http)
    for release in known():
        same = release.code == sha256 and GENERATIONS[release.document] is generation
        if same and version in (release.version, UNKNOWN):
            return GENERATIONS[release.document]
    raise UnsupportedVersionError(version, sha256)


def shape(omnigraph: ModuleType, http: ModuleType | None) -> tuple[Generation | None, str]:
    """The generation that modules look like, known or not, with the hash of what
    decides; ``None`` and ``""`` if they look like none.
    """
    for generation, names in HASHED.items():
        functions = [_find(name, omnigraph, http) for name in names]
        if None not in functions:
            return generation, source_hash(functions)
    return None, ""


def source_hash(things: Iterable[Any]) -> str:
    """The SHA-256 of functions' source and of the fields of named tuples; ``""``
    if one has none.
    """
    try:
        texts = [_text(thing) for thing in things]
    except (OSError, TypeError, AttributeError):
        return ""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _text(thing: Any) -> str:
    if isinstance(thing, type):
        fields: Any = thing
        return repr((fields._fields, fields._field_defaults))
    return textwrap.dedent(inspect.getsource(thing))


def _find(name: str, omnigraph: ModuleType, http: ModuleType | None) -> Any:
    """A function by its name; ``http.`` and a class's name may stand before it."""
    owner: Any = omnigraph
    *path, last = name.split(".")
    for part in path:
        owner = http if part == "http" else getattr(owner, part, None)
    return getattr(owner, last, None)


def version_of(omnigraph: ModuleType) -> str:
    """The release that the distribution beside a module is of. That of another
    folder may be another's.
    """
    file = getattr(omnigraph, "__file__", None)
    if file is None:
        return UNKNOWN
    beside = str(Path(file).parents[1])
    for found in importlib.metadata.distributions(name="witan-core", path=[beside]):
        return found.version or UNKNOWN
    return UNKNOWN

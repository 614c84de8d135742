"""Which releases of witan-core are known, by what their code says."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import textwrap
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from .._errors import OutlastError
from ._generations import COMMAND_LINE, TWO_TRANSPORTS, Generation

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
    ),
    COMMAND_LINE: (*SHARED, "OmnigraphClient._execute", "OmnigraphClient._acquire_write_lock"),
}
"""What decides in each generation: all that is replaced, and what it calls. Its
constants are not hashed, since they are followed."""

KNOWN: dict[str, Generation] = {
    # 0.43.1, 0.44.0, 0.44.1 and 0.45.0
    "edec8cf89b2d4ba1f1c048c027499d4d109d8e43dc83c3d90d9449a615d36640": TWO_TRANSPORTS,
    # 0.8.0
    "d9262b59dfbcd1104bf1075ac850f24effa70ad156c895645a8296c30a4cfa5d": COMMAND_LINE,
}
"""The generation of each hash. A release is accepted if its hash is here."""


class UnsupportedVersionError(OutlastError):
    """This release of witan-core decides otherwise than any that is known.

    Attributes:
        version: The release, or ``"of an unknown version"``.
        sha256: The hash of what decides in it; ``""`` if it lacks some of that.
    """

    def __init__(self, version: str, sha256: str) -> None:
        super().__init__(version, sha256)
        self.version = version
        self.sha256 = sha256

    def __str__(self) -> str:
        found = (
            f"the code that decides has the SHA-256 {self.sha256}"
            if self.sha256
            else ("the code that decides is not where it is looked for, or was replaced")
        )
        return (
            f"outlast: installing into witan-core {self.version}: {found}, which is none that is "
            "known to equal 0.45.0 or 0.8.0; nothing was changed: its own retry loop is in force"
        )


def recognise(omnigraph: ModuleType, http: ModuleType | None) -> Generation:
    """The generation of witan-core's modules.

    Raises:
        UnsupportedVersionError: If they are of none.
    """
    sha256 = ""
    for generation in (TWO_TRANSPORTS, COMMAND_LINE):
        functions = [_find(name, omnigraph, http) for name in HASHED[generation]]
        if None in functions:
            continue
        sha256 = source_hash(functions)
        if KNOWN.get(sha256) is generation:
            return generation
    raise UnsupportedVersionError(_version(), sha256)


def source_hash(functions: Iterable[Any]) -> str:
    """The SHA-256 of functions' source; ``""`` if one has none."""
    try:
        texts = [textwrap.dedent(inspect.getsource(function)) for function in functions]
    except (OSError, TypeError):
        return ""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _find(name: str, omnigraph: ModuleType, http: ModuleType | None) -> Any:
    """A function by its name; ``http.`` and a class's name may stand before it."""
    owner: Any = omnigraph
    *path, last = name.split(".")
    for part in path:
        owner = http if part == "http" else getattr(owner, part, None)
    return getattr(owner, last, None)


def _version() -> str:
    try:
        return importlib.metadata.version("witan-core")
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"

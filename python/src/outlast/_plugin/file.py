"""The plugin's file, which this package carries, and its digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .._call.errors import PluginError

PACKAGED = Path(__file__).with_name("outlast.wasm")
"""Where an installed package has the file. The module of its memory is beside it."""

CHECKOUT = Path(__file__).parents[4] / "plugin" / "outlast.wasm"
"""Where a checkout of the project has it."""


def find() -> Path:
    """The plugin's file.

    Raises:
        PluginError: If the file is missing, which means a broken installation.
    """
    for path in (PACKAGED, CHECKOUT):
        if path.is_file():
            return path
    raise PluginError("finding the plugin", f"there is no {PACKAGED}: install the package again")


def read(path: Path | None = None) -> tuple[bytes, str]:
    """The plugin's bytes and their SHA-256 in hexadecimal digits.

    Args:
        path: Another plugin than the one that this package carries. Beside it
            no recorded digest is needed.

    Raises:
        PluginError: If the file cannot be read, or is not the one whose digest
            was recorded when the plugin was built.
    """
    where = find() if path is None else path
    try:
        wasm = where.read_bytes()
        recorded = None if path is not None else _recorded(where)
    except OSError as e:
        raise PluginError("reading the plugin", str(e)) from e
    digest = hashlib.sha256(wasm).hexdigest()
    if recorded is not None and digest != recorded:
        raise PluginError(
            "checking the plugin",
            f"{where} has the SHA-256 {digest}, and was built with {recorded}: "
            "install the package again",
        )
    return wasm, digest


def kernel() -> bytes:
    """The module of the plugin's memory, ``extism:host/env``.

    Raises:
        PluginError: If the file is missing, which means a broken installation.
    """
    try:
        return find().with_name("kernel.wasm").read_bytes()
    except OSError as e:
        raise PluginError("reading the plugin", f"{e}: install the package again") from e


def _recorded(where: Path) -> str:
    return where.with_name(where.name + ".sha256").read_text("ascii").strip()

"""Releases of witan-core: fetched from PyPI by their hash, nothing of them kept."""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from outlast.witan._known import known

from .table import order

SHA256 = {release.version: release.sdist for release in known()}
"""Of each release's source distribution, which has its tests."""

WITH_HTTP = [release.version for release in known() if release.document != "0.8.0"]

BY_CODE = sorted({release.code: release.version for release in known()}.values(), key=order)
"""The newest release of each code that decides."""

FOLDER_VARIABLE = "OUTLAST_WITAN_CORE_SDISTS"
"""A folder that may have the source distributions already."""

PACKAGE = "witan_core"


@dataclass(frozen=True)
class Release:
    """A release, unpacked.

    Attributes:
        version: Such as ``"0.45.0"``.
        folder: Where its package and its tests are.
        modules: Its modules, imported; other releases' stand beside them.
    """

    version: str
    folder: Path
    modules: dict[str, ModuleType]

    @property
    def omnigraph(self) -> Any:
        """The module that has the loop."""
        return self.modules[f"{PACKAGE}.omnigraph"]

    @property
    def http(self) -> Any:
        """The module of HTTP, ``None`` in 0.8.0."""
        return self.modules.get(f"{PACKAGE}.omnigraph_http")

    @contextmanager
    def importable(self) -> Iterator[None]:
        """Let ``import witan_core`` mean this release."""
        before = _forget()
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            _forget()
            sys.modules.update(before)


def get(version: str, where: Path) -> Release:
    """A release, unpacked into a folder and imported."""
    folder = unpack(fetch(version, where), where)
    return Release(version, folder, import_from(folder))


def fetch(version: str, where: Path) -> Path:
    """The source distribution of a release."""
    if sys.version_info < (3, 11):
        pytest.skip("witan-core needs Python 3.11")
    name = f"witan_core-{version}.tar.gz"
    sdist = Path(os.environ.get(FOLDER_VARIABLE, where)) / name
    if not sdist.is_file():
        sdist = where / name
        download(version, where)
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    assert digest == SHA256[version], f"{sdist} is not the release: {digest}"
    return sdist


def download(version: str, where: Path) -> None:
    """Let pip download a source distribution. Without a network tests are
    skipped, but not in CI.
    """
    wanted = where / "wanted.txt"
    wanted.write_text(f"witan-core=={version} --hash=sha256:{SHA256[version]}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    pip += ["--no-build-isolation", "--no-binary", "witan-core"]
    pip += ["--dest", str(where), "--requirement", str(wanted)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report(f"witan-core {version} cannot be downloaded:\n{done.stderr}")


def unpack(sdist: Path, where: Path) -> Path:
    """Unpack a source distribution, and get its folder. As where it is installed,
    the folder says which release it is.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(where, filter="data")
    folder = where / sdist.name.removesuffix(".tar.gz")
    metadata = folder / f"{folder.name}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_bytes((folder / "PKG-INFO").read_bytes())
    return folder


def import_from(folder: Path) -> dict[str, ModuleType]:
    """Import the modules of a release, and forget them again: another release
    has the same names.
    """
    before = _forget()
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module(f"{PACKAGE}.omnigraph")
        return _forget()
    finally:
        sys.path.remove(str(folder))
        _forget()
        sys.modules.update(before)


def _forget() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.split(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}

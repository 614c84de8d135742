"""Which releases of witan-core are known: runs each one's own tests with the plugin.

    ./check.sh matrix              every release from 0.41.0 on, and what is known
    ./check.sh matrix 0.46.0       only this one

For each release: a virtual environment with the release, what its tests need, and
outlast, all installed; all of its tests, with its own loop and with the plugin;
and, if nothing differs, its line in known.json and in the table of
docs/witan-core.md. A release that differs is taken off the list, so that
``install()`` refuses it. It exits with 1 if there is one.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import tomllib  # type: ignore[import-not-found]  # from Python 3.11 on, as witan-core

from outlast.witan import _known
from outlast.witan._known import Known
from witan.table import order, table

from .upstream import Place, Verdict, passed

FIRST = "0.41.0"
"""The oldest release of two transports that is asked of PyPI for (a choice)."""

PYTHON = Path(__file__).parents[2]
PAGE = PYTHON.parent / "docs" / "witan-core.md"
TABLE = re.compile(
    r"(?<=<!-- made by `\./check\.sh matrix` -->\n\n).*?(?=\n\n<!-- end -->)", re.DOTALL
)
SHOWN = 10
"""So many differences of a release are shown."""

PROBE = """
import json, sys
from witan_core import omnigraph
try:
    from witan_core import omnigraph_http as http
except ImportError:
    http = None
from outlast.witan import _sources
generation, code = _sources.shape(omnigraph, http)
documents = [name for name, one in _sources.GENERATIONS.items() if one is generation]
print(json.dumps([_sources.version_of(omnigraph), code, *documents]))
"""


def main(wanted: list[str]) -> int:
    """Run the matrix for some releases, or for all."""
    for version in wanted:
        if not re.fullmatch(r"\d+(\.\d+)*", version):
            raise RuntimeError(f"{version!r} is no release; right would be 0.45.0")
    versions = wanted or candidates()
    releases = {release.version: release for release in _known.known()}
    refused: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="outlast-matrix-") as folder:
        wheel = build(Path(folder))
        for version in sorted(versions, key=order):
            began = time.monotonic()
            release, faults = examine(version, Path(folder) / version, wheel)
            releases.pop(version, None)
            if faults:
                refused[version] = faults
            else:
                releases[version] = release
            shutil.rmtree(Path(folder) / version)
            print(line(release, faults, time.monotonic() - began), flush=True)
            write(releases.values())
    return 1 if refused else 0


def candidates() -> list[str]:
    """The releases on PyPI from the first on, and those that are known."""
    listing = pip(sys.executable, "index", "versions", "witan-core")
    (versions,) = re.findall(r"^Available versions: (.*)$", listing, re.MULTILINE)
    published = {v for v in versions.split(", ") if order(v) >= order(FIRST)}
    return sorted(published | {release.version for release in _known.known()}, key=order)


def build(where: Path) -> Path:
    """A wheel of outlast."""
    pip(
        *(sys.executable, "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(where), str(PYTHON)),
    )
    (wheel,) = where.glob("outlast-*.whl")
    return wheel


def examine(version: str, where: Path, wheel: Path) -> tuple[Known, list[str]]:
    """A release's line for the list, and why it does not belong there."""
    where.mkdir()
    sdist = download(version, where)
    place = prepare(sdist, where, wheel)
    probe = subprocess.run(
        [place.python, "-c", PROBE], cwd=where, capture_output=True, text=True, check=True
    )
    found, code, *documents = json.loads(probe.stdout)
    verdict, faults = Verdict({}, {}), ["what decides in it is not where it is looked for"]
    if documents:
        verdict = place.both("any")
        faults = verdict.faults()
    if found != version:
        faults.append(f"what was installed says that it is {found}")
    release = Known(
        version=version,
        sdist=hashlib.sha256(sdist.read_bytes()).hexdigest(),
        code=code,
        document="".join(documents),
        own=passed(verdict.own),
        plugin=passed(verdict.plugin),
        decided=len(verdict.deciding),
    )
    return release, faults


def download(version: str, where: Path) -> Path:
    """A release's source distribution, which has its tests."""
    pip(
        *(sys.executable, "download", "--no-deps", "--no-build-isolation"),
        *("--no-binary", "witan-core", "--dest", str(where), f"witan-core=={version}"),
    )
    (sdist,) = where.glob("witan_core-*.tar.gz")
    return sdist


def prepare(sdist: Path, where: Path, wheel: Path) -> Place:
    """An environment in which a release's tests can run. Its package is the
    installed one: only its tests are taken out of the archive.
    """
    shutil.unpack_archive(sdist, where / "unpacked", filter="data")
    (unpacked,) = (where / "unpacked").iterdir()
    (where / "work").mkdir()
    shutil.copytree(unpacked / "tests", where / "work" / "tests")
    project = tomllib.loads((unpacked / "pyproject.toml").read_text("utf-8"))
    subprocess.run([sys.executable, "-m", "venv", where / "venv"], check=True)
    python = str(where / "venv" / "bin" / "python")
    needs = project["dependency-groups"]["test"]
    pip(python, "install", "--prefer-binary", str(sdist), str(wheel), *needs)
    (where / "home").mkdir()
    return Place(python, where / "work", (), ["tests"], where / "home")


def pip(python: str, *arguments: str) -> str:
    """Run pip, and get what it prints."""
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"pip {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def line(release: Known, faults: list[str], seconds: float) -> str:
    """What is printed of a release."""
    title = (
        f"witan-core {release.version}: {release.own} of its tests pass with its own loop, "
        f"{release.plugin} with the plugin, which decided in {release.decided}; "
        f"{'REFUSED' if faults else 'known'} ({seconds:.0f} s)"
    )
    return "\n    ".join([title, *faults[:SHOWN]])


def write(releases: Iterable[Known]) -> None:
    """Write the list, and the table that the documentation has of it."""
    ordered = sorted(releases, key=lambda release: order(release.version))
    text = json.dumps([asdict(release) for release in ordered], indent=2)
    _known.FILE.write_text(text + "\n", "utf-8")
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: table(ordered), page), "utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as e:
        sys.exit(f"matrix: {e}")

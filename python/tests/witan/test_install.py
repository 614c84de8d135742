"""Putting the plugin in, taking it out, and refusing what is not known."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import outlast
from outlast import witan
from witan import releases
from witan.releases import Release

pytestmark = pytest.mark.usefixtures("uninstalled")


def state(release: Release) -> dict[str, Any]:
    """All attributes that could be replaced."""
    owners: dict[str, Any] = {
        "omnigraph": release.omnigraph,
        "client": release.omnigraph.OmnigraphClient,
    }
    if release.http is not None:
        owners["http"] = release.http
    return {
        f"{key}.{name}": value
        for key, owner in owners.items()
        for name, value in vars(owner).items()
    }


EXPECTED = {
    "0.45.0": {
        "omnigraph._admission_cap_backoff",
        "omnigraph._classify_cli_error",
        "omnigraph._cli_failure",
        "omnigraph._conflict_backoff",
        "omnigraph._jittered_backoff",
        "omnigraph._recovery_backoff",
        "omnigraph._unavailable_backoff",
        "client._retry_loop",
        "http.classify_status",
    },
    "0.8.0": {
        "omnigraph._admission_cap_backoff",
        "omnigraph._jittered_backoff",
        "omnigraph._unavailable_backoff",
        "client._execute",
    },
}


def test_what_is_replaced_and_put_back(release: Release) -> None:
    before = state(release)
    assert not witan.installed()
    with release.importable():
        witan.install()
        witan.install()
    assert witan.installed()
    during = state(release)
    assert {n for n in before if before[n] is not during[n]} == EXPECTED[release.version]
    witan.uninstall()
    after = state(release)
    assert all(after[name] is before[name] for name in before)
    assert not witan.installed()
    witan.uninstall()


def test_what_somebody_else_has_replaced_stays(latest: Release) -> None:
    theirs = latest.omnigraph._conflict_backoff
    with latest.importable():
        witan.install()
    latest.omnigraph._conflict_backoff = mine = lambda _attempt: 1.0
    witan.uninstall()
    assert latest.omnigraph._conflict_backoff is mine
    latest.omnigraph._conflict_backoff = theirs


def test_nothing_is_loaded_or_imported_before(latest: Release, tmp_path: Path) -> None:
    script = (
        "import sys, outlast.witan\n"
        "assert 'witan_core' not in sys.modules and 'extism' not in sys.modules\n"
        "outlast.witan.install()\n"
        "assert 'extism' not in sys.modules and not outlast.default_plugin().loaded\n"
    )
    run(script, latest.folder)


def test_witan_core_is_missing(tmp_path: Path) -> None:
    script = (
        "import outlast.witan\n"
        "try:\n    outlast.witan.install()\n"
        "except ModuleNotFoundError as e:\n    assert e.name == 'witan_core', e\n"
        "else:\n    raise SystemExit('installed')\n"
        "assert not outlast.witan.installed()\n"
    )
    run(script, tmp_path)


def run(script: str, folder: Path) -> None:
    import subprocess

    package = Path(outlast.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": f"{package}:{folder}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_another_release_with_the_same_code_is_accepted(latest: Release, tmp_path: Path) -> None:
    def change(text: str) -> str:
        return text.replace("_MAX_ATTEMPTS = 8\n", "_MAX_ATTEMPTS = 9\n").replace(
            "def shared_transport(", "def other():\n    pass\n\n\ndef shared_transport("
        )

    other = altered(latest, tmp_path, change)
    with other.importable():
        witan.install()
    assert witan.installed()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("unavailable_attempt += 1\n", "unavailable_attempt += 2\n"),
        ("if returncode == _EXIT_RETRY or any(", "if any("),
        ("jitter = random.uniform(0, 0.1 * delay)", "jitter = random.uniform(0, 0.2 * delay)"),
        ('                "--force",\n', ""),
        ("def _retry_loop(", "def _loop("),
    ],
)
def test_a_release_that_decides_otherwise_is_refused(
    latest: Release, tmp_path: Path, before: str, after: str
) -> None:
    other = altered(latest, tmp_path, lambda text: text.replace(before, after))
    was = state(other)
    with other.importable(), pytest.raises(witan.UnsupportedVersionError) as refused:
        witan.install()
    assert not witan.installed()
    assert state(other) == was
    assert isinstance(refused.value, outlast.OutlastError)
    text = str(refused.value)
    assert refused.value.sha256 in text
    assert "0.45.0" in text and "0.8.0" in text and "its own retry loop is in force" in text


def test_a_loop_that_was_wrapped_is_refused(oldest: Release) -> None:
    client = oldest.omnigraph.OmnigraphClient
    theirs = client._execute

    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        return theirs(self, *args, **options)

    client._execute = wrapped
    try:
        with oldest.importable(), pytest.raises(witan.UnsupportedVersionError):
            witan.install()
    finally:
        client._execute = theirs


def test_a_module_without_source_is_refused(latest: Release) -> None:
    module = ModuleType("witan_core.omnigraph")
    exec("def f(): pass\nclass OmnigraphClient: pass", vars(module))
    other = Release("?", latest.folder, {**latest.modules, "witan_core.omnigraph": module})
    with other.importable(), pytest.raises(witan.UnsupportedVersionError) as refused:
        witan.install()
    assert refused.value.sha256 == ""
    assert "not where it is looked for" in str(refused.value)


def altered(release: Release, where: Path, change: Any) -> Release:
    """A copy of a release whose main module's text was changed."""
    folder = where / "altered"
    shutil.copytree(release.folder / "witan_core", folder / "witan_core")
    module = folder / "witan_core" / "omnigraph.py"
    before = module.read_text("utf-8")
    after = change(before)
    assert after != before
    module.write_text(after, "utf-8")
    return Release("altered", folder, releases.import_from(folder))


def test_many_threads_install_once(latest: Release) -> None:
    with latest.importable():
        threads = [threading.Thread(target=witan.install) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    loop = latest.omnigraph.OmnigraphClient._retry_loop
    witan.uninstall()
    assert latest.omnigraph.OmnigraphClient._retry_loop is not loop

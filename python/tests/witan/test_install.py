"""Putting the plugin in, taking it out, and refusing what is not known."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import outlast
from differential.world import observe
from outlast import witan
from outlast.witan._known import known
from witan import releases
from witan.releases import Release
from witan.test_calls import scenario

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


REPLACED = {
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
"""By the document that a release's loop equals."""

DOCUMENTS = {release.version: release.document for release in known()}


def test_what_is_replaced_and_put_back(each: Release) -> None:
    before = state(each)
    assert not witan.installed()
    with each.importable():
        witan.install()
        witan.install()
    assert witan.installed()
    during = state(each)
    replaced = {name for name in before if before[name] is not during[name]}
    assert replaced == REPLACED[DOCUMENTS[each.version]]
    witan.uninstall()
    after = state(each)
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
        "assert 'witan_core' not in sys.modules and 'wasmtime' not in sys.modules\n"
        "outlast.witan.install()\n"
        "assert 'wasmtime' not in sys.modules and not outlast.default_plugin().loaded\n"
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


def change_what_does_not_decide(text: str) -> str:
    return text.replace("_MAX_ATTEMPTS = 8\n", "_MAX_ATTEMPTS = 9\n").replace(
        "def shared_transport(", "def other():\n    pass\n\n\ndef shared_transport("
    )


def test_a_copy_that_says_no_release_is_known_by_its_code(latest: Release, tmp_path: Path) -> None:
    other = altered(latest, tmp_path, change_what_does_not_decide)
    with other.importable():
        witan.install()
    assert witan.installed()


def test_a_release_whose_tests_were_not_run_is_refused(latest: Release, tmp_path: Path) -> None:
    """Even if what decides is the same."""
    other = altered(latest, tmp_path, change_what_does_not_decide, "0.45.1")
    refused = refuse(other)
    assert refused.version == "0.45.1"
    text = str(refused)
    assert "witan-core 0.45.1: this release is not known" in text
    for release in known():
        assert release.version in text
    assert "./check.sh matrix" in text


def test_a_known_release_that_was_changed_is_refused(each: Release, tmp_path: Path) -> None:
    other = altered(each, tmp_path, lambda t: t.replace("0.1 * delay", "0.2 * delay"), each.version)
    text = str(refuse(other))
    assert f"witan-core {each.version}: the code that decides has the SHA-256" in text
    assert "it is not as it was published" in text


def test_another_shape_of_an_attempt_is_refused(latest: Release, tmp_path: Path) -> None:
    """What the loop is handed counts too: it lacked a member once."""
    other = altered(latest, tmp_path, lambda t: t.replace('    body: str = ""\n', ""))
    refuse(other)


def test_a_release_that_is_refused_goes_on_as_it_did(each: Release, tmp_path: Path) -> None:
    """Its own loop rides out a refused connection."""
    other = altered(each, tmp_path, lambda text: text + "\n", "9.0.0")
    refuse(other)
    world = observe(other, scenario("tcp connect error", "tcp connect error"))
    assert (world.attempts, world.steps[-1].what) == (3, "ok")


def refuse(release: Release) -> witan.UnsupportedVersionError:
    """The refusal of a release, which is left as it was."""
    was = state(release)
    with release.importable(), pytest.raises(witan.UnsupportedVersionError) as refused:
        witan.install()
    assert not witan.installed()
    assert state(release) == was
    assert isinstance(refused.value, outlast.OutlastError)
    assert "its own retry loop is in force" in str(refused.value)
    return refused.value


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
    refused = refuse(altered(latest, tmp_path, lambda text: text.replace(before, after)))
    assert refused.version == "of an unknown version"
    assert f"{refused.sha256}, which is no known" in str(refused) or refused.sha256 == ""


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


def altered(
    release: Release, where: Path, change: Callable[[str], str], version: str = ""
) -> Release:
    """A copy of a release whose main module's text was changed. It says that it is
    a version, if one is given.
    """
    folder = where / "altered"
    shutil.copytree(release.folder / "witan_core", folder / "witan_core")
    module = folder / "witan_core" / "omnigraph.py"
    before = module.read_text("utf-8")
    after = change(before)
    assert after != before
    module.write_text(after, "utf-8")
    if version:
        metadata = folder / f"witan_core-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.4\nName: witan-core\nVersion: {version}\n")
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

"""witan-core's own tests, with its own loop and with the plugin's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import outlast
from witan.releases import Release

from .tracing import FAILURE, INSTALL_VARIABLE, REPORT_VARIABLE

TESTS = {
    "0.45.0": (
        "test_omnigraph",
        "test_omnigraph_http",
        "test_group_commit",
        "test_batching",
        "test_cli_payload_unwritable",
    ),
    "0.8.0": ("test_omnigraph", "test_batching"),
}
PASSES = {"0.45.0": 300, "0.8.0": 50}
"""At least so many pass with witan-core's own loop: fewer means that the tests
did not run."""

RETRY_TESTS = {"0.45.0": 50, "0.8.0": 12}
"""At least so many meet a failure."""


def run(release: Release, where: Path, install: bool) -> dict[str, Any]:
    """Run its tests in a process of their own, and get the report."""
    report = where / f"report-{install}.json"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("WITAN_", "PYTEST_"))}
    environment |= {
        "PYTHONPATH": os.pathsep.join(
            map(
                str,
                (release.folder, Path(outlast.__file__).parents[1], Path(__file__).parents[1]),
            )
        ),
        REPORT_VARIABLE: str(report),
        INSTALL_VARIABLE: "1" if install else "",
        "HOME": str(where),
    }
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "witan.tracing", "--noconftest"]
    pytest_ += ["-p", "no:cacheprovider"]
    done = subprocess.run(
        [*pytest_, *(f"tests/{name}.py" for name in TESTS[release.version])],
        cwd=release.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(report.read_text())
    assert found["installed"] is install
    tests: dict[str, Any] = found["tests"]
    return tests


def test_as_many_pass(release: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without, installed = (run(release, tmp_path, install) for install in (False, True))
    assert set(without) == set(installed)
    changed = {
        name: (without[name]["outcome"], installed[name]["outcome"])
        for name in without
        if without[name]["outcome"] != installed[name]["outcome"]
    }
    assert not changed
    passed = Counter(test["outcome"] for test in without.values())
    assert passed["passed"] >= PASSES[release.version]

    # With the plugin none of witan-core's own code decides; and in each test in
    # which that met a failure, or was asked for a kind or a delay, the plugin was
    # asked. If the installation had failed, witan-core's own loop would pass all.
    ours = {"check", "decide"}
    for name, test in installed.items():
        assert set(test["counts"]) <= ours, (name, test["counts"])
    assert not any(ours & set(test["counts"]) for test in without.values())
    deciding = {name for name, test in without.items() if set(test["counts"]) - {"_cli_failure"}}
    failing = {name for name in deciding if FAILURE in without[name]["counts"]}
    assert len(failing) >= RETRY_TESTS[release.version]
    assert not {name for name in deciding if not installed[name]["counts"].get("decide")}
    asked = sum(test["counts"].get("decide", 0) for test in installed.values())
    with capsys.disabled():
        print(
            f"\nwitan-core {release.version}: {passed['passed']} of its tests pass without and "
            f"{Counter(t['outcome'] for t in installed.values())['passed']} with the plugin; "
            f"{len(deciding)} ask for a kind or a delay, {len(failing)} of these in the loop, and "
            f"in each the plugin decided, {asked} times in all"
        )

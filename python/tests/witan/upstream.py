"""A release's own tests, with its own loop and with the plugin's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tracing import FAILURE, INSTALL_VARIABLE, REPORT_VARIABLE

Tests = Mapping[str, Mapping[str, Any]]
"""By their names: the outcome of each, and how often what decided."""

ASKED = frozenset(("check", "decide"))
"""What is counted of the plugin; all else is witan-core's own."""

LEAST = 10
"""So many tests at least meet a failure: fewer means that they did not run (a
choice; 0.8.0, the smallest, has 14)."""


@dataclass(frozen=True)
class Place:
    """Where a release's tests are run.

    Attributes:
        python: The interpreter.
        folder: Where the folder ``tests`` is.
        path: What is importable besides.
        arguments: Of pytest: which tests.
        home: A folder to write to.
    """

    python: str
    folder: Path
    path: Sequence[Path]
    arguments: Sequence[str]
    home: Path

    def run(self, install: str) -> Tests:
        """Run the tests in a process of their own.

        Args:
            install: ``""``: with witan-core's own loop; ``"known"``: with the
                plugin if the release is known; ``"any"``: with it anyway.
        """
        home = self.home / (install or "own")
        home.mkdir()
        report = home / "report.json"
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WITAN_", "PYTEST_", "OMNIGRAPH_"))
        }
        environment |= {
            "PYTHONPATH": os.pathsep.join(map(str, (*self.path, Path(__file__).parents[1]))),
            REPORT_VARIABLE: str(report),
            INSTALL_VARIABLE: install,
            "HOME": str(home),
        }
        pytest_ = [self.python, "-m", "pytest", "-q", "-p", "witan.tracing"]
        pytest_ += ["-p", "no:cacheprovider", "--continue-on-collection-errors"]
        done = subprocess.run(
            [*pytest_, *self.arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.is_file():
            raise RuntimeError(f"{self.folder}: its tests did not run:\n{done.stdout}{done.stderr}")
        found: dict[str, Any] = json.loads(report.read_text())
        if found["installed"] is not bool(install):
            raise RuntimeError(f"{self.folder}: whether the plugin was installed: {found}")
        tests: Tests = found["tests"]
        return tests

    def both(self, install: str) -> Verdict:
        """The tests without and with the plugin, at the same time: they mostly
        wait.
        """
        with ThreadPoolExecutor(2) as pool:
            own, plugin = pool.map(self.run, ("", install))
        return Verdict(own, plugin)


@dataclass(frozen=True)
class Verdict:
    """What running a release's tests twice has shown.

    Attributes:
        own: The tests with witan-core's own loop.
        plugin: The same tests with the plugin.
    """

    own: Tests
    plugin: Tests

    @property
    def deciding(self) -> set[str]:
        """Tests in which witan-core's own code was asked for a kind or a delay,
        or met a failure.
        """
        return {name for name, test in self.own.items() if set(test["counts"]) - {"_cli_failure"}}

    @property
    def failing(self) -> set[str]:
        """Those in which a failure reached its loop."""
        return {name for name in self.deciding if FAILURE in self.own[name]["counts"]}

    @property
    def decisions(self) -> int:
        """How often the plugin decided in all."""
        return sum(test["counts"].get("decide", 0) for test in self.plugin.values())

    def faults(self) -> list[str]:
        """Why the release is not known; nothing if it is.

        The same tests pass; with the plugin none of witan-core's own code
        decides; and in each test in which that met a failure the plugin was
        asked: had the installation failed, witan-core's own loop would pass all.
        """
        found = [f"{name}: not in both runs" for name in sorted(set(self.own) ^ set(self.plugin))]
        for name in sorted(set(self.own) & set(self.plugin)):
            own, plugin = self.own[name], self.plugin[name]
            if own["outcome"] != plugin["outcome"]:
                found.append(f"{name}: {own['outcome']}, with the plugin {plugin['outcome']}")
            if set(plugin["counts"]) - ASKED:
                found.append(f"{name}: with the plugin its own code decided: {plugin['counts']}")
            if ASKED & set(own["counts"]):
                found.append(f"{name}: without the plugin that decided")
            if name in self.deciding and not plugin["counts"].get("decide"):
                found.append(f"{name}: the plugin was not asked")
        if len(self.failing) < LEAST:
            found.append(f"only {len(self.failing)} tests met a failure")
        return found


def passed(tests: Tests) -> int:
    """How many tests pass."""
    return sum(test["outcome"] == "passed" for test in tests.values())

"""witan-core's own tests that reach its loop, with that loop and with the plugin.

These are the ones that need nothing but witan-core; ``./check.sh matrix`` runs
all tests of every release.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import outlast
from witan.releases import Release

from .tracing import FAILURE
from .upstream import LEAST, Place, Verdict, passed

REACHES_THE_LOOP = re.compile(r"from witan_core(\.| import )(omnigraph(_http)?|group_commit)\b")
NEEDS_MORE = re.compile(r"^(from|import) (fastmcp|sentry_sdk|testsupport)\b", re.MULTILINE)


def files(release: Release) -> list[str]:
    """The tests that can run here."""
    found = []
    for path in sorted((release.folder / "tests").glob("test_*.py")):
        text = path.read_text("utf-8")
        if REACHES_THE_LOOP.search(text) and not NEEDS_MORE.search(text):
            found.append(str(path))
    return found


def test_as_many_pass(variant: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = (variant.folder, Path(outlast.__file__).parents[1])
    arguments = ["--noconftest", *files(variant)]
    verdict = Place(sys.executable, variant.folder, path, arguments, tmp_path).both("known")
    assert verdict.faults() == []
    assert passed(verdict.own) > 50
    with capsys.disabled():
        print(
            f"\nwitan-core {variant.version}: {passed(verdict.own)} of its tests pass without and "
            f"{passed(verdict.plugin)} with the plugin; {len(verdict.deciding)} ask for a kind or "
            f"a delay, {len(verdict.failing)} of these in the loop, and in each the plugin "
            f"decided, {verdict.decisions} times in all"
        )


def case(outcome: str, **counts: int) -> dict[str, Any]:
    return {"outcome": outcome, "counts": counts}


OWN = case("passed", **{FAILURE: 1})
PLUGIN = case("passed", decide=1)
MANY = range(LEAST)


@pytest.mark.parametrize(
    ("own", "plugin", "fault"),
    [
        (OWN, PLUGIN, ""),
        (case("passed"), case("passed"), ""),
        (case("failed"), case("failed"), ""),
        (OWN, case("failed", decide=1), "passed, with the plugin failed"),
        (case("skipped"), case("passed"), "skipped, with the plugin passed"),
        (OWN, case("passed"), "the plugin was not asked"),
        (OWN, case("passed", decide=1, _jittered_backoff=1), "its own code decided"),
        (PLUGIN, PLUGIN, "without the plugin that decided"),
    ],
)
def test_what_makes_a_release_known(
    own: dict[str, Any], plugin: dict[str, Any], fault: str
) -> None:
    verdict = Verdict(
        {"t": own, **{str(n): OWN for n in MANY}}, {"t": plugin, **{str(n): PLUGIN for n in MANY}}
    )
    found = verdict.faults()
    assert (found == []) if not fault else any(fault in text for text in found), found


def test_tests_that_did_not_run_make_nothing_known() -> None:
    quiet = {"t": case("passed")}
    assert Verdict(quiet, quiet).faults() == ["only 0 tests met a failure"]
    assert Verdict({"t": OWN}, {}).faults()[0] == "t: not in both runs"

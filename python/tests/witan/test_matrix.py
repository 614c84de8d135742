"""The command that makes the list: what it keeps, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from outlast.witan import _known
from outlast.witan._known import Known
from witan.table import table

pytest.importorskip("tomllib", reason="the matrix needs Python 3.11, as witan-core does")

from witan import matrix


def entry(version: str, own: int = 3, plugin: int = 3) -> Known:
    return Known(version, "s" * 64, "c" * 64, "0.45.0", own, plugin, 2)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list and a page of one's own; nothing is built or downloaded."""
    page = tmp_path / "page.md"
    page.write_text(matrix.PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(_known, "FILE", tmp_path / "known.json")
    monkeypatch.setattr(_known, "known", lambda: (entry("0.8.0"), entry("0.9.0")))
    monkeypatch.setattr(matrix, "PAGE", page)
    monkeypatch.setattr(matrix, "build", lambda _where: Path("a.whl"))
    return page


def run(monkeypatch: pytest.MonkeyPatch, *found: tuple[Known, list[str]]) -> int:
    """The command with what has been found of each release."""
    by_version = {release.version: (release, faults) for release, faults in found}

    def examine(version: str, where: Path, _wheel: Path) -> tuple[Known, list[str]]:
        where.mkdir()
        return by_version[version]

    monkeypatch.setattr(matrix, "examine", examine)
    return matrix.main(list(by_version))


def listed() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_known.FILE.read_text("utf-8"))
    return entries


def test_a_release_that_passes_is_added_in_its_place(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, (entry("0.10.0"), []), (entry("0.8.1"), [])) == 0
    assert [entry["version"] for entry in listed()] == ["0.8.0", "0.8.1", "0.9.0", "0.10.0"]
    assert f"\n\n{table([Known(**e) for e in listed()])}\n\n<!-- end -->" in page.read_text("utf-8")


def test_a_release_that_differs_is_taken_off(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [f"tests/t.py::t{n}: passed, with the plugin failed" for n in range(50)]
    assert run(monkeypatch, (entry("0.9.0", 3, 0), faults), (entry("0.10.0"), [])) == 1
    assert [entry["version"] for entry in listed()] == ["0.8.0", "0.10.0"]
    said = capsys.readouterr().out
    assert "witan-core 0.9.0: 3 of its tests pass with its own loop, 0 with the plugin" in said
    assert "REFUSED" in said and faults[0] in said and faults[-1] not in said


def test_a_release_that_cannot_be_tested_changes_nothing(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = page.read_text("utf-8")

    def cannot(*_arguments: Any) -> tuple[Known, list[str]]:
        raise RuntimeError("pip download: no such release")

    monkeypatch.setattr(matrix, "examine", cannot)
    with pytest.raises(RuntimeError, match="no such release"):
        matrix.main(["9.9.9"])
    assert page.read_text("utf-8") == before
    assert not _known.FILE.exists()


def test_what_is_no_release() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "witan.matrix", "newest"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "matrix: 'newest' is no release; right would be 0.45.0\n"


def test_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = "witan-core (0.46.0)\nAvailable versions: 0.46.0, 0.41.0, 0.40.1, 0.8.0, 0.2.0\n"
    monkeypatch.setattr(matrix, "pip", lambda *_arguments: listing)
    found = matrix.candidates()
    assert found[0] == "0.8.0" and found[-1] == "0.46.0"
    assert "0.40.1" not in found and "0.2.0" not in found

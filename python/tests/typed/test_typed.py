"""Type checkers know of a decorated function what they know of it undecorated."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("httpx2")  # which Python 3.10 does not have

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).with_name("sample.py")
WRONG = {n for n, line in enumerate(SAMPLE.read_text().splitlines(), 1) if "# wrong: " in line}


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def by_mypy(folder: Path) -> dict[int, str]:
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {ROOT / 'src'}\n")
    told = run(folder, "mypy", "--no-error-summary", "sample.py")
    return {int(line): text for line, text in re.findall(r"sample\.py:(\d+): error: (.*)", told)}


def by_pyright(folder: Path) -> dict[int, str]:
    settings = {"extraPaths": [str(ROOT / "src")], "pythonVersion": "3.10"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    told = json.loads(run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable))
    assert told["summary"]["filesAnalyzed"] == 1
    errors = [each for each in told["generalDiagnostics"] if each["severity"] == "error"]
    return {each["range"]["start"]["line"] + 1: each["message"] for each in errors}


@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_what_is_right_and_what_is_wrong(
    checker: Callable[[Path], dict[int, str]], tmp_path: Path
) -> None:
    shutil.copy(SAMPLE, tmp_path)
    found = checker(tmp_path)
    assert set(found) == WRONG, found

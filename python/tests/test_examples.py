"""The examples do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

PRINTS = {
    "survive_a_restart.py": r"the server is there: hello\n.*\nasked, .* after \d\.\d s: hello\n",
    "asyncio_tasks.py": r"100 of 100 answered, the last after \d+\.\d s\n",
}


def test_each_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} >= set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_an_example(name: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, timeout=120, check=True, text=True
    )
    assert re.fullmatch(PRINTS[name], done.stdout), done.stdout

"""Extism's SDK loads the same file, and decides alike. This package does without it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_extisms_sdk_replays_the_transcripts() -> None:
    done = subprocess.run(
        [sys.executable, "hosts/python/replay.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert re.fullmatch(r"[1-9][0-9]+ passed, 0 failed\n", done.stdout), done.stdout

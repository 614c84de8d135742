"""The example does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import outlast
from witan.releases import Release

EXAMPLE = Path(__file__).parents[2] / "examples" / "witan_core_restart.py"


def test_it_rides_out_the_restart(latest: Release) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WITAN_")}
    path = [str(Path(outlast.__file__).parents[1]), str(latest.folder)]
    done = subprocess.run(
        [sys.executable, EXAMPLE],
        env={**environment, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    wait = r"unavailable: attempt \d in \d\.\d s\n"
    assert re.fullmatch(rf"({wait})+\[\{{'slug': 'ada'\}}\] after \d+\.\d s\n", done.stdout)

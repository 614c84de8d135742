"""What is built works in a fresh virtual environment, far from any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import asyncio, json, sys
from outlast._plugin import plugin as plugins
import outlast, outlast.hooks, outlast.testing, outlast.witan

assert "site-packages" in outlast.__file__, outlast.__file__
outlast.hooks.set_hooks(())
info = outlast.info()
built_in = outlast.Policy("witan-core")
assert outlast.Policy(outlast.witan.document("0.45.0")).digest == built_in.digest
assert outlast.Policy(outlast.witan.document("0.8.0")).digest != built_in.digest
assert outlast.Policy("curl").digest
left = [3]

@outlast.retry(remote=True, write=True, only_request=True)
def ask():
    left[0] -= 1
    if left[0] >= 0:
        raise ConnectionRefusedError(111, "Connection refused")
    return "answer"

with outlast.testing.virtual_time() as clock:
    assert ask() == "answer"
assert len(clock.slept) == 3
print(json.dumps(info))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, made of a source distribution, and that."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return out


def test_what_is_in_them(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as z:
        names = set(z.namelist())
        plugin = z.read("outlast/_plugin/outlast.wasm")
    assert plugin == (ROOT.parent / "plugin" / "outlast.wasm").read_bytes()
    assert {"outlast/py.typed", "outlast/_plugin/outlast.wasm.sha256"} <= names
    assert "outlast/_plugin/kernel.wasm" in names
    policies = {n for n in names if n.startswith("outlast/_plugin/policies/")}
    commands = (ROOT.parent / "commands").glob("*/policy.json")
    assert policies == {f"outlast/_plugin/policies/{p.parent.name}.json" for p in commands}
    assert not [n for n in names if "test" in n.split("/")[0]]
    with tarfile.open(source) as t:
        inside = {n.split("/", 1)[1] for n in t.getnames() if "/" in n}
    assert {"src/outlast/_plugin/outlast.wasm", "hatch_build.py", "README.md", "LICENSE"} <= inside


def test_it_works_far_from_any_checkout(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", home], check=True, timeout=120)
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
        check=True,
        timeout=300,
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-W", "error", "-c", PROGRAM],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    digest = (ROOT.parent / "plugin" / "outlast.wasm.sha256").read_text().strip()
    assert f'"sha256": "{digest}"'.encode() in done.stdout

"""Ctrl-C, for real: a process gets SIGINT, once, and ends at once with nothing
left behind.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import ends

if sys.platform == "win32":
    pytest.skip("SIGINT is of other systems", allow_module_level=True)

COMMON = """
import os, sys, threading, time
import outlast
from outlast.events import Waiting

call = outlast.Call(remote=True, write=False)

def refused():
    raise ConnectionRefusedError(111, "Connection refused")

def told(event):
    if isinstance(event, Waiting):
        print("waiting", flush=True)

def stopped(event):
    if isinstance(event, outlast.events.Stopped):
        print(event.outcome.type, event.outcome.effects, flush=True)

outlast.hooks.set_hooks([told, stopped])
policy = outlast.Policy("omnigraph")
"""

PROGRAMS = {
    "run": "policy.run(refused, call)",
    "run_in_plugin": "policy.run_in_plugin(refused, call)",
    "arun": """
import asyncio
async def arefused():
    refused()
asyncio.run(policy.arun(arefused, call))
""",
    "decorator": "outlast.retry(remote=True, write=False)(refused)()",
    "loading": """
import outlast._plugin.engine as engine
engine.Engine.compile = lambda self: (print("waiting", flush=True), time.sleep(60))
outlast.Policy("omnigraph", plugin=outlast.Plugin()).run(refused, call)
""",
    "loading_in_asyncio": """
import asyncio
import outlast._plugin.engine as engine
engine.Engine.compile = lambda self: (print("waiting", flush=True), time.sleep(60))
async def arefused():
    refused()
asyncio.run(outlast.Policy("omnigraph", plugin=outlast.Plugin()).arun(arefused, call))
""",
    "attempt": """
def slow():
    print("waiting", flush=True)
    time.sleep(60)
policy.run(slow, call)
""",
    "attempt_in_plugin": """
made = []
def slow():
    if not made:
        made.append(1)
        refused()
    print("waiting", flush=True)
    time.sleep(60)
policy.run_in_plugin(slow, call, sleep=lambda s: None)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_ctrl_c(name: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", "import outlast.events, outlast.hooks\n" + COMMON + PROGRAMS[name]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"waiting\n"
    time.sleep(0.1)  # into the wait itself
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert program.returncode == -signal.SIGINT, err
    assert err.rstrip().endswith(b"KeyboardInterrupt"), err
    assert b"Exception ignored" not in err
    assert b"cancelled none\n" in out


def test_one_ctrl_c_ends_a_command_and_all_of_its_children(tmp_path: Path) -> None:
    script = tmp_path / "omnigraph"
    script.write_text(
        "#!/bin/sh\n"
        f"sh -c 'trap \"\" INT; echo $$ > {tmp_path}/child; echo waiting; exec sleep 300' &\n"
        f"echo $$ > {tmp_path}/leader\nwait\n"
    )
    script.chmod(0o755)
    code = f"""
import outlast
outlast.run_command([{str(script)!r}], outlast.Call(remote=True, write=True), kill_after=0.5)
"""
    program = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    for name in ("leader", "child"):
        while not (tmp_path / name).exists() or not (tmp_path / name).read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=30)
    assert program.returncode == -signal.SIGINT, err
    for name in ("leader", "child"):
        assert ends(int((tmp_path / name).read_text())), name


def test_a_second_ctrl_c_kills_at_once(tmp_path: Path) -> None:
    script = tmp_path / "omnigraph"
    script.write_text(
        f"#!/bin/sh\ntrap 'echo once >> {tmp_path}/trapped' INT\n"
        f"echo $$ > {tmp_path}/leader\nwhile :; do sleep 0.1; done\n"
    )
    script.chmod(0o755)
    code = f"""
import outlast
outlast.run_command([{str(script)!r}], outlast.Call(remote=True, write=True), kill_after=300)
"""
    program = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    for name in ("leader", "trapped"):
        while not (tmp_path / name).exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        time.sleep(0.1)
    _, err = program.communicate(timeout=30)
    assert program.returncode == -signal.SIGINT, err
    assert ends(int((tmp_path / "leader").read_text()))

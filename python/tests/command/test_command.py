"""The subprocess driver, with real processes."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import NEEDS_REPAIR
from outlast import Call, Result, run_command
from outlast._command.command import Command
from outlast._command.run import KNOWN
from outlast.testing import VirtualClock
from processes import alive, ends

if sys.platform == "win32":
    pytest.skip("the scripts are for a Unix shell", allow_module_level=True)

READ = Call(remote=True, write=False, label="query")
WRITE = Call(remote=True, write=True)

REFUSED = """printf 'Error: \\n   0: error sending request for url (u)\\n' >&2
printf '   1: client error (Connect)\\n   2: tcp connect error\\n\\n' >&2
"""


@pytest.fixture
def omnigraph(tmp_path: Path) -> Any:
    """Makes a command that is called omnigraph. It counts its attempts in $n."""

    def make(script: str) -> list[str]:
        path = tmp_path / "omnigraph"
        count = tmp_path / "count"
        path.write_text(
            f"#!/bin/sh\nn=$(cat {count} 2>/dev/null || echo 0)\nn=$((n+1))\necho $n > {count}\n"
            f"refuse() {{\n{REFUSED}exit 1\n}}\n{script}\n"
        )
        path.chmod(0o755)
        return [str(path)]

    return make


def test_a_command_rides_out_an_outage(omnigraph: Any, clock: VirtualClock) -> None:
    argv = omnigraph("[ $n -lt 4 ] && { echo rubbish; refuse; }\nprintf 'rows\\r\\n\\377'; exit 0")
    done = run_command(argv, READ)
    assert done.ok
    assert (done.exit_code, done.signal) == (0, "")
    assert done.stdout == b"rows\r\n\xff"  # once, untouched, of the last attempt
    assert done.stderr == b""
    assert done.outcome.attempts == 4
    assert done.argv == tuple(argv)
    assert len(clock.slept) == 3


def test_a_command_that_never_succeeds(omnigraph: Any, clock: VirtualClock) -> None:
    argv = omnigraph("echo out; refuse")
    done = run_command(argv, Call(remote=True, write=False, budget=5.0))
    assert (done.ok, done.exit_code, done.stdout) == (False, 1, b"out\n")
    assert b"tcp connect error" in done.stderr
    assert done.outcome.reason == "call"
    with pytest.raises(outlast.Exhausted) as raised:
        run_command(argv, Call(remote=True, write=False, budget=5.0), check=True)
    assert raised.value.result is not None
    assert raised.value.result.exit_code == 1


@pytest.mark.parametrize("code", [2, 4, 75, 101, 255])
def test_exit_codes(omnigraph: Any, clock: VirtualClock, code: int) -> None:
    done = run_command(omnigraph(f"exit {code}"), READ)
    assert done.exit_code == code


def test_signals(omnigraph: Any, clock: VirtualClock) -> None:
    done = run_command(omnigraph("echo before; kill -9 $$"), WRITE)
    assert (done.exit_code, done.signal, done.stdout) == (None, "SIGKILL", b"before\n")
    assert done.outcome.type == "indeterminate"


def test_each_attempt_gets_the_whole_input(
    omnigraph: Any, clock: VirtualClock, tmp_path: Path
) -> None:
    script = "cat\n[ $n -lt 3 ] && refuse\nexit 0"
    data = os.urandom(300_000)
    assert run_command(omnigraph(script), READ, input=data).stdout == data

    path = tmp_path / "input"
    path.write_bytes(b"skipped" + data)
    (tmp_path / "count").unlink()
    with path.open("rb") as file:
        file.read(7)
        done = run_command(omnigraph(script), READ, stdin=file)
    assert (done.stdout, done.outcome.attempts) == (data, 3)

    (tmp_path / "count").unlink()
    reader, writer = os.pipe()
    os.write(writer, b"through a pipe")
    os.close(writer)
    done = run_command(omnigraph(script), READ, stdin=reader)
    os.close(reader)
    assert (done.stdout, done.outcome.attempts) == (b"through a pipe", 3)

    for file_like in (io.BytesIO(b"in memory"), io.StringIO("in memory")):
        (tmp_path / "count").unlink()
        done = run_command(omnigraph(script), READ, stdin=file_like)
        assert (done.stdout, done.outcome.attempts) == (b"in memory", 3)


def test_without_input_there_is_none(omnigraph: Any, clock: VirtualClock) -> None:
    assert run_command(omnigraph("cat; echo end"), READ).stdout == b"end\n"


def test_a_command_that_does_not_read_its_input(omnigraph: Any, clock: VirtualClock) -> None:
    done = run_command(omnigraph("exec 0<&-; echo done"), READ, input=b"x" * 1_000_000)
    assert done.stdout == b"done\n"


def test_large_output_of_both_streams(omnigraph: Any, clock: VirtualClock) -> None:
    argv = omnigraph("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2; exit 1")
    done = run_command(argv, READ)
    assert (len(done.stdout), len(done.stderr)) == (3_000_000, 2_000_000)


def test_environment_and_directory(omnigraph: Any, tmp_path: Path) -> None:
    done = run_command(
        omnigraph("echo $WORD; pwd"),
        READ,
        env={"WORD": "hello", "PATH": os.environ["PATH"]},
        cwd=tmp_path,
    )
    assert done.stdout.decode().split() == ["hello", str(tmp_path.resolve())]


def test_an_attempt_that_takes_too_long_is_ended(
    omnigraph: Any, clock: VirtualClock, tmp_path: Path
) -> None:
    script = (
        "[ $n -gt 1 ] && { echo quick; exit 0; }\n"
        f"sleep 300 & echo $! > {tmp_path / 'child'}\nsleep 300"
    )
    began = time.monotonic()
    done = run_command(omnigraph(script), READ, attempt_timeout=0.5, kill_after=5)
    assert time.monotonic() - began < 60
    assert (done.stdout, done.outcome.attempts) == (b"quick\n", 2)
    assert done.outcome.history[0].kind == "timed_out"
    assert ends(int((tmp_path / "child").read_text()))


def test_a_write_that_takes_too_long_may_have_been_applied(omnigraph: Any) -> None:
    done = run_command(omnigraph("sleep 300"), WRITE, attempt_timeout=0.3)
    assert (done.outcome.type, done.outcome.kind) == ("indeterminate", "timed_out")
    assert done.result.timed_out
    assert done.signal == "SIGTERM"


def test_a_command_that_does_not_want_to_end_is_killed(omnigraph: Any, tmp_path: Path) -> None:
    script = (
        "trap '' TERM\n"
        f"(trap '' TERM; echo here > {tmp_path / 'ready'}; while :; do sleep 1; done) &\n"
        f"echo $! > {tmp_path / 'child'}\nwhile :; do sleep 1; done"
    )
    done = run_command(omnigraph(script), WRITE, attempt_timeout=0.5, kill_after=0.5)
    assert done.signal == "SIGKILL"
    assert ends(int((tmp_path / "child").read_text()))


def test_a_child_that_holds_the_output_is_not_waited_for(omnigraph: Any, tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path / 'child'}\necho out; exit 0"
    began = time.monotonic()
    done = run_command(omnigraph(script), READ)
    assert time.monotonic() - began < 30
    assert done.stdout == b"out\n"
    child = int((tmp_path / "child").read_text())
    assert alive(child)  # nor is it harmed
    os.kill(child, 9)


def test_nothing_is_left_open(omnigraph: Any) -> None:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc on this system")
    argv = omnigraph("exit 1")
    run_command(argv, READ)  # loads the plugin
    before = len(list(folder.iterdir()))
    for _ in range(5):
        run_command(argv, READ, input=b"x")
    assert len(list(folder.iterdir())) == before


def test_without_the_systems_help_to_see_a_process_end(
    omnigraph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert run_command(omnigraph("exec >&- 2>&-; sleep 0.2; exit 3"), READ).exit_code == 3
    assert run_command(omnigraph("echo x; sleep 0.1"), READ).stdout == b"x\n"


def test_a_repair(omnigraph: Any, clock: VirtualClock) -> None:
    argv = omnigraph(f"[ $n -gt 1 ] && exit 0\ncat >&2 <<'X'\n{NEEDS_REPAIR.decode()}X\nexit 1")
    repaired: list[bool] = []

    def repair(force: bool) -> Result:
        repaired.append(force)
        return Result(exit_code=0)

    done = run_command(argv, Call(remote=False, write=True), repair=repair)
    assert (done.ok, repaired) == (True, [False])


def test_another_command_needs_a_policy(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'true', and the default policy only knows"):
        run_command(["true"], READ)
    assert run_command(["true"], READ, policy="omnigraph").ok
    assert run_command(["true"], READ, policy=outlast.Policy("omnigraph")).ok
    assert "omnigraph" in KNOWN


@pytest.mark.parametrize(
    ("argv", "given", "error", "text"),
    [
        ("omnigraph query", {}, TypeError, "no shell splits it"),
        ([], {}, ValueError, "argv is empty"),
        (["omnigraph"], {"attempt_timeout": 0}, ValueError, "attempt_timeout is 0"),
        (["omnigraph"], {"kill_after": float("nan")}, ValueError, "kill_after is nan"),
        (["omnigraph"], {"only_request": True}, TypeError, "only_request is for functions"),
        (["omnigraph"], {"input": "text"}, TypeError, "input is of type str"),
        (["omnigraph"], {"input": b"", "stdin": 0}, ValueError, "either input or stdin"),
        (["/missing/omnigraph"], {}, FileNotFoundError, "missing"),
    ],
)
def test_what_is_wrong_is_named(
    argv: Any, given: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        run_command(argv, READ, **given)


def test_ctrl_c_while_the_command_starts(omnigraph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    popen, begun = Command.popen, []

    def interrupted(command: Command, **how: Any) -> Any:
        begun.append(popen(command, **how))
        signal.raise_signal(signal.SIGINT)
        return begun[0]

    monkeypatch.setattr(Command, "popen", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run_command(omnigraph("exec sleep 300"), WRITE, kill_after=0.5)
    assert ends(begun[0][0].pid)
    assert signal.getsignal(signal.SIGINT) is before


def in_a_process(code: str) -> None:
    """Run code in a process of its own, whose signals and users it may change."""
    subprocess.run([sys.executable, "-c", HEAD + code], check=True, timeout=30)


HEAD = """
import os, signal, subprocess, sys, threading, time
import outlast
call = outlast.Call(remote=True, write=True)
def run(*argv, **options):
    return outlast.run_command(argv, call, policy="curl", **options)
"""


def test_where_sigchld_is_ignored() -> None:
    in_a_process("""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
other = subprocess.Popen(["sleep", "0.05"])
done = run("sh", "-c", "sleep 0.2; exit 3")
assert (done.exit_code, done.ok) == (3, False), done
assert run("true").ok
assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    pass  # nothing is left of the other one either
else:
    raise AssertionError
refused = []
def on_a_thread():
    try:
        run("true")
    except RuntimeError as e:
        refused.append(str(e))
thread = threading.Thread(target=on_a_thread)
thread.start()
thread.join()
assert "SIGCHLD" in refused[0]
""")


def test_where_another_part_waits_for_all_children() -> None:
    in_a_process("""
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
signal.signal(signal.SIGCHLD, reap)
done = run("sh", "-c", "echo said; exit 3")
assert not done.ok
assert done.outcome.type == "indeterminate"
assert "how the command ended is not known" in done.result.message
assert done.stdout == b"said\\n"
""")


@pytest.mark.skipif(not hasattr(os, "setresuid") or os.geteuid() != 0, reason="needs root")
def test_a_kill_that_is_refused_ends_the_attempt_all_the_same() -> None:
    in_a_process("""
outlast.info()  # which needs to read its file
threading.Timer(0.2, lambda: os.setresuid(65534, 65534, 0)).start()
began = time.monotonic()
done = run("sleep", "60", attempt_timeout=0.5, kill_after=0.2)
took = time.monotonic() - began
os.setresuid(0, 0, 0)
assert took < 5
assert done.outcome.kind == "timed_out", done
assert "another user's" in str(done.result.message)
os.kill(int(str(done.result.message).split()[0]), signal.SIGKILL)
""")

"""Processes of many kinds: forked ones, greenlets, servers, and those that may not do all
that an engine likes to do. Each is real, and rides out a server that refuses it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from outlast import warm_up

if sys.platform == "win32":
    pytest.skip("there is no fork on this system", allow_module_level=True)

RIDE = """
import os, socket, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
import outlast
outlast.hooks.set_hooks([])

def ride(refusals=2):
    '''Calls a server that refuses connections for a while.'''
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    tries = []

    def call():
        tries.append(1)
        if len(tries) > refusals:
            server.listen()
        socket.create_connection(server.getsockname(), timeout=5).close()
        return outlast.Result(exit_code=0)

    what = outlast.Call(remote=True, write=False)
    outlast.Policy().run(call, what, check=True, sleep=lambda _: time.sleep(0.001))
    server.close()
    return len(tries)
"""


def run(code: str, *, early: str = "", shell: str = "", **environment: str) -> str:
    """What a program prints, which must end well and print nothing else."""
    command = [sys.executable, "-c", early + RIDE + code]
    if shell:
        command = ["bash", "-c", f'{shell}; exec "$@"', "bash", *command]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
    return done.stdout


@pytest.fixture(autouse=True, scope="module")
def _cached() -> None:
    warm_up()  # so that these programs find the compiled code


def test_children_forked_beside_threads_that_decide() -> None:
    """Each decides, by what its parent has loaded and by a plugin of its own, and ends
    as programs do.
    """
    code = """
outlast.warm_up()
over = threading.Event()

def decide():
    while not over.is_set():
        outlast.warm_up()

threads = [threading.Thread(target=decide) for _ in range(2)]
for thread in threads:
    thread.start()
ended = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        import signal
        signal.alarm(30)
        assert outlast.default_plugin().loaded
        assert ride() == 3
        outlast.Plugin().warm_up()
        sys.exit(0)
    ended.append(os.waitpid(pid, 0)[1])
over.set()
for thread in threads:
    thread.join()
print(ended)
"""
    assert run(code) == f"{[0] * 20}\n"


def test_a_child_that_is_forked_before_anything_is_loaded() -> None:
    code = """
pid = os.fork()
if pid == 0:
    sys.exit(0 if ride() == 3 else 1)
print(os.waitpid(pid, 0)[1], ride())
"""
    assert run(code) == "0 3\n"


def test_a_child_compiles_without_its_parents_threads() -> None:
    """Those that have compiled in the parent are not there."""
    code = """
from outlast._plugin import engine, file

def compile():  # something small
    engine.Engine(file.kernel(), "").compile()

compile()
assert engine._compiler_of == os.getpid()
pid = os.fork()
if pid == 0:
    import signal
    signal.alarm(20)
    compile()
    sys.exit(0)
print(os.waitpid(pid, 0)[1])
"""
    assert run(code, OUTLAST_CACHE_DIR="off") == "0\n"


def test_a_pool_of_forked_workers() -> None:
    code = """
import multiprocessing
if __name__ == "__main__":
    outlast.warm_up()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(ride, [1, 2, 3]))
"""
    assert run(code) == "[2, 3, 4]\n"


def test_little_address_space() -> None:
    """What ``ulimit -v`` gives, in KiB; also where all must be compiled."""
    code = "print(ride())"
    assert run(code, shell="ulimit -v 2097152") == "3\n"
    assert run(code, shell="ulimit -v 2097152", OUTLAST_CACHE_DIR="off") == "3\n"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_no_executable_memory(tmp_path: Path) -> None:
    """As systemd's MemoryDenyWriteExecute has it. What is kept is the interpreter's code."""
    code = """
import ctypes
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
if ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0):
    print("unknown here")
else:
    outlast.warm_up()
    loading = outlast.default_plugin().take_loading()
    print(ride(), loading.interpreted.startswith("unable to make memory executable"))
"""
    for _ in range(2):
        said = run(code, OUTLAST_CACHE_DIR=str(tmp_path))
        if said == "unknown here\n":
            pytest.skip("Linux 6.3 can forbid it")
        assert said == "3 True\n"
    assert len(list((tmp_path / "python").iterdir())) == 1


PATCH = "import gevent.monkey\ngevent.monkey.patch_all()\n"


@pytest.mark.parametrize("early", [True, False])
def test_greenlets(early: bool) -> None:
    """gevent's, patched in before or after outlast was imported. Each call waits in
    Python, so none is in the midst of the engine when another goes on.
    """
    pytest.importorskip("gevent")
    code = """
import gevent
jobs = [gevent.spawn(ride) for _ in range(30)]
gevent.joinall(jobs)
print({job.value for job in jobs})

def refused():
    gevent.sleep(0.001)
    raise ConnectionRefusedError(111, "Connection refused")

def drive():
    call = outlast.Call(remote=True, write=False, budget=1)
    try:
        return outlast.Policy().run_in_plugin(refused, call, sleep=lambda _: gevent.sleep(0.001))
    except outlast.PluginError as e:
        return type(e.__cause__).__name__, str(e)

jobs = [gevent.spawn(drive) for _ in range(5)]
gevent.joinall(jobs)
print(*{job.value for job in jobs}.pop())
"""
    said = run(code if early else PATCH + code, early=PATCH * early, RUST_BACKTRACE="1")
    assert said.startswith("{3}\nConnectionRefusedError outlast: running the policy: host_failed: ")
    assert said.endswith("let Python drive\n")


APP = (
    RIDE
    + """
outlast.warm_up()

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {ride()}".encode()]
"""
)


@pytest.mark.parametrize("worker", ["sync", "gthread", "gevent"])
def test_a_preloaded_server(tmp_path: Path, worker: str) -> None:
    """gunicorn loads the application, and the plugin, before it forks its workers."""
    pytest.importorskip("gunicorn")
    pytest.importorskip("gevent")
    (tmp_path / "app.py").write_text(APP)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["-m", "gunicorn", "--preload", "-w", "2", "-k", worker, "-b", f"127.0.0.1:{port}"]
    server = subprocess.Popen(
        [sys.executable, *command, "app:app"],
        cwd=tmp_path,
        env={**os.environ, "RUST_BACKTRACE": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        asked(port, 60)
        answers = [asked(port, 5).split() for _ in range(12)]
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=60)[1]
    assert {tries for _, tries in answers} == {"3"}
    assert server.returncode == 0, said
    assert "ERROR" not in said, said
    assert "Traceback" not in said, said


def asked(port: int, seconds: float) -> str:
    """The server's answer, once it gives one."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
                return str(answer.read(), "ascii")
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)

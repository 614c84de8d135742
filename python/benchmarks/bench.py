"""The figures of docs/python.md, beside tenacity and stamina on the same work.

    python benchmarks/bench.py

Each figure is the median, and the least, of several processes. tenacity and
stamina are what they are: libraries in plain Python, which know nothing of what
a failure means. The comparison says what the plugin costs, not what it is worth.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

RUNS = int(os.environ.get("RUNS", "7"))

IMPORT = """
import time; began = time.perf_counter()
import {module}
print(time.perf_counter() - began)
"""

FIRST = """
import time
{setup}
began = time.perf_counter()
once()
print(time.perf_counter() - began)
"""

ROUND = """
import time
{setup}
once()
n = {times}
began = time.perf_counter()
for _ in range(n):
    once()
print((time.perf_counter() - began) / n)
"""

SUCCESS = """
import time
{setup}
n = {times}
good()
began = time.perf_counter()
for _ in range(n):
    good()
print((time.perf_counter() - began) / n)
"""

DECIDE = """
import time
import outlast
policy = outlast.Policy("omnigraph")
call = outlast.Call(remote=True, write=False)
result = outlast.Result(exit_code=1, stderr=b"Error: \\n   0: error sending request for url (u)\\n"
                        b"   1: client error (Connect)\\n   2: tcp connect error\\n\\n")
session = policy.session(call, seed=1)
session.next(result, 0.0)
n = {times}
began = time.perf_counter()
for i in range(n):
    if i % 10 == 0:
        session = policy.session(call, seed=1)
    session.next(result, i * 0.001)
print((time.perf_counter() - began) / n)
"""

# One call that fails once with a refused connection, waits for no time, and
# succeeds; and one that succeeds at once.
OUTLAST = """
import outlast, outlast.hooks
outlast.hooks.set_hooks(())
policy = outlast.Policy("omnigraph")
call = outlast.Call(remote=True, write=False)
ok = outlast.Result(exit_code=0)
nowhere = lambda seconds: None

def once():
    left = [1]
    def attempt():
        if left.pop() if left else 0:
            raise ConnectionRefusedError(111, "Connection refused")
        return ok
    policy.run(attempt, call, sleep=nowhere)

@outlast.retry(remote=True, write=False)
def good():
    return 1
"""

TENACITY = """
import tenacity
retrying = tenacity.Retrying(
    retry=tenacity.retry_if_exception_type(ConnectionError),
    stop=tenacity.stop_after_delay(150),
    wait=tenacity.wait_exponential_jitter(0.5, 10),
    sleep=lambda seconds: None,
)

def once():
    left = [1]
    def attempt():
        if left.pop() if left else 0:
            raise ConnectionRefusedError(111, "Connection refused")
        return 1
    retrying(attempt)

@tenacity.retry(stop=tenacity.stop_after_delay(150))
def good():
    return 1
"""

STAMINA = """
import stamina
stamina.set_testing(True, attempts=10)  # no sleeping
stamina.instrumentation.set_on_retry_hooks([])

def once():
    left = [1]
    @stamina.retry(on=ConnectionError, timeout=150, wait_initial=0.5, wait_max=10)
    def attempt():
        if left.pop() if left else 0:
            raise ConnectionRefusedError(111, "Connection refused")
        return 1
    attempt()

@stamina.retry(on=ConnectionError, timeout=150)
def good():
    return 1
"""

# A thousand tasks that wait after their first failure, and what each of them
# adds to the process; beside tasks that only sleep.
WAITING = """
import asyncio, gc, os
{setup}

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

async def main():
    first = asyncio.create_task(wait())
    await asyncio.sleep(0.3)
    gc.collect()
    before = resident()
    tasks = [asyncio.create_task(wait()) for _ in range(1000)]
    await asyncio.sleep(0.4)
    gc.collect()
    print((resident() - before) / 1000)
    for task in (first, *tasks):
        task.cancel()
    await asyncio.gather(first, *tasks, return_exceptions=True)

asyncio.run(main())
"""

WAIT_OUTLAST = """
import outlast, outlast.hooks
outlast.hooks.set_hooks(())
policy = outlast.Policy("omnigraph")
policy.plugin.load()
call = outlast.Call(remote=True, write=False)
async def attempt():
    raise ConnectionRefusedError(111, "Connection refused")
async def for_long(seconds):
    await asyncio.sleep(3600)
async def wait():
    await policy.arun(attempt, call, sleep=for_long)
"""

WAIT_TENACITY = """
import tenacity
async def for_long(seconds):
    await asyncio.sleep(3600)
async def wait():
    async for attempt in tenacity.AsyncRetrying(
        stop=tenacity.stop_after_delay(150), wait=tenacity.wait_exponential_jitter(0.5, 10),
        sleep=for_long,
    ):
        with attempt:
            raise ConnectionRefusedError(111, "Connection refused")
"""

WAIT_STAMINA = """
import stamina
stamina.instrumentation.set_on_retry_hooks([])
async def wait():
    async for attempt in stamina.retry_context(
        on=ConnectionError, timeout=7200, wait_initial=3600, wait_max=3600
    ):
        with attempt:
            raise ConnectionRefusedError(111, "Connection refused")
"""

WAIT_SLEEP = """
async def wait():
    await asyncio.sleep(3600)
"""


def measure(code: str, **environment: str) -> tuple[float, float]:
    """The median and the least of what several processes print."""
    figures = []
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **environment},
        )
        figures.append(float(done.stdout))
    return statistics.median(figures), min(figures)


def show(what: str, figure: Callable[[], tuple[float, float]], unit: str, scale: float) -> None:
    """Print a line of the table."""
    median, least = figure()
    print(f"| {what} | {median * scale:,.1f} {unit} | {least * scale:,.1f} {unit} |", flush=True)


def main() -> None:
    """Measure all and print a table."""
    from importlib.metadata import version

    import stamina  # noqa: F401  the figures need both
    import tenacity  # noqa: F401

    print(
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"wasmtime {version('wasmtime')}, {os.cpu_count()} processors, {RUNS} processes\n"
    )
    print("| what | median | least |\n|---|---|---|")
    for module in ("outlast", "tenacity", "stamina"):
        show(f"import {module}", partial(measure, IMPORT.format(module=module)), "ms", 1e3)
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder) / "cache")
        first = FIRST.format(setup=OUTLAST)
        show(
            "first failure of a process, nothing cached",
            partial(measure, first, OUTLAST_CACHE_DIR="off"),
            "ms",
            1e3,
        )
        measure(first, OUTLAST_CACHE_DIR=cache)
        show(
            "first failure of a process, cached",
            partial(measure, first, OUTLAST_CACHE_DIR=cache),
            "ms",
            1e3,
        )
    decide = DECIDE.format(times=3000)
    show("one decision", partial(measure, decide), "us", 1e6)
    for name, setup in (("outlast", OUTLAST), ("tenacity", TENACITY), ("stamina", STAMINA)):
        code = ROUND.format(setup=setup, times=2000)
        show(f"a call that fails once, {name}", partial(measure, code), "us", 1e6)
    for name, setup in (("outlast", OUTLAST), ("tenacity", TENACITY), ("stamina", STAMINA)):
        code = SUCCESS.format(setup=setup, times=5000)
        show(f"a call that succeeds, {name}", partial(measure, code), "us", 1e6)
    waits = {
        "outlast": WAIT_OUTLAST,
        "tenacity": WAIT_TENACITY,
        "stamina": WAIT_STAMINA,
        "asyncio.sleep alone": WAIT_SLEEP,
    }
    for name, setup in waits.items():
        code = WAITING.format(setup=setup)
        show(
            f"memory of each of 1,000 waiting tasks, {name}",
            partial(measure, code),
            "KiB",
            1 / 1024,
        )


if __name__ == "__main__":
    main()

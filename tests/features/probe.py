"""Tries tenacity, stamina and outlast: one line of JSON for each cell.

Usage: probe.py URL POLICY   the server in server.go, and a policy with waits of 4 s
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import mypy.api
import prometheus_client
import stamina
import structlog
import tenacity

import outlast

URL, POLICY = sys.argv[1], sys.argv[2]


class Away(Exception):
    """What an attempt raises."""


def by_tenacity(limit: float, wait: float, attempts: int = 99, on: Any = Away, **more: Any) -> Any:
    return tenacity.retry(
        stop=tenacity.stop_after_attempt(attempts) | tenacity.stop_after_delay(limit),
        wait=tenacity.wait_fixed(wait),
        retry=tenacity.retry_if_exception_type(on),
        **more,
    )


def by_stamina(limit: float, wait: float, attempts: int = 99, on: Any = Away, **more: Any) -> Any:
    fixed = {"wait_initial": wait, "wait_max": wait, "wait_jitter": 0}
    return stamina.retry(on=on, timeout=limit, attempts=attempts, **fixed, **more)


def by_outlast(limit: float, wait: float, attempts: int = 99, on: Any = Away, **more: Any) -> Any:  # noqa: ARG001 its waits are the policy's
    return outlast.retry(
        remote=True, **{"write": False, **more}, on=on, max_wait=limit, attempts=attempts
    )


LIBRARIES: dict[str, Callable[..., Any]] = {
    "tenacity": by_tenacity,
    "stamina": by_stamina,
    "outlast": by_outlast,
}


def failing(decorate: Any, first: float = 0, error: Any = Away) -> list[float]:
    """When each attempt began of a call that never succeeds and whose first takes so long."""
    began: list[float] = []

    @decorate
    def call() -> None:
        began.append(time.monotonic())
        time.sleep(first if len(began) == 1 else 0)
        raise error

    with_nothing_raised(call)
    return began


def with_nothing_raised(call: Callable[[], Any]) -> BaseException | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def clock(by: Any) -> str:
    return "yes" if len(failing(by(1.2, 0.5), first=1.5)) > 1 else "no"


def clamp(by: Any) -> str:
    began = failing(by(2, 1.2))
    gaps = [b - a for a, b in pairwise(began)]
    if began[-1] - began[0] < 1.9:
        return "no: stops before it"
    return "yes" if gaps[-1] < 0.8 * gaps[-2] else "no: goes on past it"


def attempt(name: str) -> str:
    if name != "outlast":  # the only time limit that these have is the call's
        began = time.monotonic()
        failing(LIBRARIES[name](0.3, 0.1), first=1.5)
        return "yes" if time.monotonic() - began < 1.4 else "no"
    times: list[int] = []

    @outlast.retry(remote=True, write=False, attempt_timeout=0.3)
    async def call() -> None:
        times.append(1)
        await asyncio.sleep(30 if len(times) == 1 else 0)

    asyncio.run(call())
    return "yes"


def cancel(by: Any) -> str:
    @by(60, 30)
    async def call() -> None:
        raise Away

    async def main() -> str:
        task = asyncio.create_task(call())
        await asyncio.sleep(0.2)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=10)
        return "yes" if done else "no"

    return asyncio.run(main())


def loop(name: str) -> str:
    loops: dict[str, Any] = {
        "tenacity": lambda: tenacity.Retrying(stop=tenacity.stop_after_attempt(3)),
        "stamina": lambda: stamina.retry_context(on=Away, wait_initial=0, wait_jitter=0),
        "outlast": lambda: outlast.attempts(remote=True, write=False, on=Away),
    }
    count = 0
    for turn in loops[name]():
        with turn:
            count += 1
            if count < 2:
                raise Away
    return "yes" if count == 2 else "no"


def generator(by: Any) -> str:
    times = 0

    def numbers() -> Iterator[int]:
        nonlocal times
        times += 1
        yield 1
        if times == 1:
            raise Away
        yield 2

    raised = with_nothing_raised(lambda: list(by(10, 0.01)(numbers)()))
    if isinstance(raised, TypeError):
        return "no: refused"
    return "yes" if raised is None else "no"


def value(name: str) -> str:
    answers = iter([503, 200])
    if name == "tenacity":
        decorate: Any = tenacity.retry(retry=tenacity.retry_if_result(lambda r: r == 503))
    elif name == "outlast":
        decorate = outlast.retry(
            remote=True,
            write=False,
            judge=lambda r: outlast.Result(http_status=r) if r == 503 else None,
        )
    else:
        return "no" if not any("result" in word for word in words_of(stamina.retry)) else "yes"
    return "yes" if decorate(lambda: next(answers))() == 200 else "no"


def words_of(function: Any) -> list[str]:
    """The names of its parameters."""
    import inspect

    return list(inspect.signature(function).parameters)


def backoff(name: str) -> str:
    asked: list[int] = []

    def mine(*_: Any) -> float:
        asked.append(1)
        return 0.01

    if name == "tenacity":
        failing(tenacity.retry(wait=mine, stop=tenacity.stop_after_attempt(2)))
    elif name == "stamina":
        failing(stamina.retry(on=mine, attempts=2))
    else:
        return "no" if "wait" not in words_of(outlast.retry) else "yes"
    return "yes" if asked else "no"


def random(name: str) -> str:
    """Whether the first waits differ that they have by themselves."""
    waits: list[float] = []
    for _ in range(3):
        if name == "tenacity":
            retrying = tenacity.Retrying(
                stop=tenacity.stop_after_attempt(2),
                sleep=waits.append,
            )
            with_nothing_raised(lambda by=retrying: by(fail))  # type: ignore[misc]
        elif name == "stamina":
            before = time.monotonic()
            failing(stamina.retry(on=Away, attempts=2))
            waits.append(time.monotonic() - before)
        else:
            with outlast.testing.virtual_time() as virtual:
                failing(by_outlast(60, 0, attempts=2))
                waits += virtual.slept
    if not any(waits):
        return "no: there are none"
    return "yes" if max(waits) - min(waits) > 0.001 else "no"


def fail() -> None:
    raise Away


def nested(by: Any) -> str:
    began: list[int] = []

    @by(60, 0.01, attempts=3)
    def inner() -> None:
        began.append(1)
        raise Away

    @by(60, 0.01, attempts=3)
    def outer() -> None:
        inner()

    with_nothing_raised(outer)
    return "yes" if len(began) == 3 else f"no: {len(began)} attempts"


def applied(name: str, path: str, on: Any) -> str:
    """How often a POST is applied, in at most three attempts."""
    key = f"{path}/{name}-python"
    # Nothing is said of outlast's exceptions: it knows the client's.
    more = {"write": True, "on": ()} if name == "outlast" else {"on": on}
    decorate = LIBRARIES[name](60, 0.01, attempts=3, **more)
    with httpx.Client(follow_redirects=True) as client:
        post = decorate(lambda: client.post(f"{URL}{key}", content=b"x"))
        error = with_nothing_raised(post)
        times = int(client.get(f"{URL}/count{key}").text)
    doubt = ", and named as in doubt" if isinstance(error, outlast.Indeterminate) else ""
    return f"{'once' if times == 1 else f'{times} times'}{doubt}"


def after(name: str) -> str:
    key = f"/busy/{name}-python"
    more = {"on": ()} if name == "outlast" else {"on": httpx.HTTPStatusError}

    @LIBRARIES[name](60, 0.1, **more)
    def ask() -> None:
        httpx.get(f"{URL}{key}").raise_for_status()

    ask()
    return "yes" if float(httpx.get(f"{URL}/gap{key}").text) > 0.95 else "no"


def comes_back(name: str) -> str:
    """Whether a server's return in the midst of a wait of 4 s is noticed."""
    port = httpx.get(f"{URL}/away").text
    if name == "outlast":
        server = outlast.ready.Server(f"tcp://127.0.0.1:{port}")
        decorate = outlast.retry(remote=True, write=False, policy=POLICY, ready=server)
    else:
        decorate = LIBRARIES[name](60, 4, on=httpx.TransportError)
    began = time.monotonic()
    decorate(lambda: httpx.get(f"http://127.0.0.1:{port}/"))()
    return "yes" if time.monotonic() - began < 3.5 else "no"


def document() -> str:
    """Whether outlast's first wait is the policy's."""
    with outlast.testing.virtual_time() as virtual:
        slow = outlast.retry(remote=True, write=False, policy=POLICY, on=Away, attempts=2)
        failing(slow)
        return "yes" if virtual.slept[0] >= 3 else "no"


def metrics(name: str) -> str:
    failing(LIBRARIES[name](60, 0.01, attempts=2))
    text = prometheus_client.generate_latest().decode()
    return "yes" if f"{name}_" in text else "no"


def spans(name: str) -> str:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    provider: Any = trace.get_tracer_provider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    outlast.hooks.set_hooks(None)  # those of what is imported by now
    failing(LIBRARIES[name](60, 0.01, attempts=3))
    return "yes" if len(exporter.get_finished_spans()) >= 3 else "no"


def off(name: str) -> str:
    if name == "stamina":
        stamina.set_active(False)
        try:
            return "yes" if len(failing(by_stamina(60, 0.01))) == 1 else "no"
        finally:
            stamina.set_active(True)
    if name == "outlast":
        with outlast.testing.no_retries():
            return "yes" if len(failing(by_outlast(60, 0))) == 1 else "no"
    once = failing(by_tenacity(60, 0.01, enabled=False))
    return "for one function" if len(once) == 1 else "no"


TYPED = """
import outlast, stamina, tenacity
@{}
def ask(name: str) -> int: ...
reveal_type(ask("x"))
ask(1)
"""


def types(name: str) -> str:
    decorators = {
        "tenacity": "tenacity.retry(stop=tenacity.stop_after_attempt(2))",
        "stamina": "stamina.retry(on=OSError)",
        "outlast": "outlast.retry(remote=True, write=False)",
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "typed.py")
        file.write_text(TYPED.format(decorators[name]))
        said, _, _ = mypy.api.run(["--strict", "--cache-dir", folder, str(file)])
    right = 'is "int"' in said and 'incompatible type "int"; expected "str"' in said
    return "yes" if right else "no"


def missing(name: str, *words: str) -> str:
    """Whether any public name of the library has one of these words."""
    module = {"tenacity": tenacity, "stamina": stamina, "outlast": outlast}[name]
    public = [name for name in dir(module) if not name.startswith("_")]
    found = [name for name in public if any(word in name.lower() for word in words)]
    return f"yes: {', '.join(found)}" if found else "no"


def fallback(name: str) -> str:
    if name != "tenacity":
        return missing(name, "fallback")
    last = tenacity.stop_after_attempt(1)
    return str(tenacity.retry(stop=last, retry_error_callback=lambda _: "yes")(lambda: 1 / 0)())


def needs(name: str) -> str:
    wanted = importlib.metadata.requires(name) or []
    return str(len([want for want in wanted if "extra ==" not in want]))


def main() -> None:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # stdout is for cells
    for name, by in LIBRARIES.items():
        cells: dict[str, Callable[[], str]] = {
            "clock": partial(clock, by),
            "clamp": partial(clamp, by),
            "attempt": partial(attempt, name),
            "cancel": partial(cancel, by),
            "loop": partial(loop, name),
            "generator": partial(generator, by),
            "value": partial(value, name),
            "backoff": partial(backoff, name),
            "random": partial(random, name),
            "nested": partial(nested, by),
            "broke": partial(applied, name, "/broke", httpx.TransportError),
            "named": partial(applied, name, "/broke/named", httpx.ConnectError),
            "moved": partial(applied, name, "/moved", httpx.ConnectError),
            "after": partial(after, name),
            "back": partial(comes_back, name),
            "metrics": partial(metrics, name),
            "spans": partial(spans, name),
            "off": partial(off, name),
            "types": partial(types, name),
            "breaker": partial(missing, name, "circuit", "breaker"),
            "bulkhead": partial(missing, name, "bulkhead", "limiter", "concurren"),
            "hedge": partial(missing, name, "hedg"),
            "fallback": partial(fallback, name),
            "cache": partial(missing, name, "cache"),
            "shared": partial(missing, name, "shared", "token", "throttl"),
            "needs": partial(needs, name),
        }
        if name == "outlast":
            cells["document"] = document
        version = importlib.metadata.version(name)
        for row, cell in cells.items():
            tried = {"library": name, "version": version, "row": row, "cell": cell()}
            print(json.dumps(tried), flush=True)


main()

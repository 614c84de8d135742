"""What Extism's Python SDK does with exports and host functions that misbehave.

Each fact is a line ``fact: ROW: WORDS``, in words that come from what was seen. Run it in
the repository's root: ``facts.py PROBE``.
"""

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import extism
from extism import ValType

OURS = "plugin/outlast.wasm"
FAILED = {
    "type": "attempted",
    "now_us": 1,
    "result": {"exit_code": 1, "stderr": "graph is loading"},
}
THREADS = 4
DECISIONS = 50

Answer = Callable[[], dict[str, Any]]
answers: dict[str, Answer] = {}


def host_function(name: str) -> Any:
    offset = [ValType.I64]

    @extism.host_fn(name=name, namespace="extism:host/user", signature=(offset, offset))
    def function(plugin: Any, inputs: Any, outputs: Any, *_: Any) -> None:
        said = json.dumps(answers[name]()).encode()
        block = plugin.alloc(len(said))
        plugin.memory(block)[:] = said
        outputs[0].value = block.offset

    return function


NAMES = ("outlast_now", "outlast_sleep", "outlast_attempt")
FUNCTIONS = [host_function(name) for name in NAMES]


def boom() -> dict[str, Any]:
    raise RuntimeError("boom")


def loading() -> dict[str, Any]:
    return FAILED


def cancelled() -> dict[str, Any]:
    return {"wait": "cancelled", "now_us": 2}


def load(sleep: Answer = boom, attempt: Answer = boom) -> extism.Plugin:
    answers.update(outlast_now=boom, outlast_sleep=sleep, outlast_attempt=attempt)
    with open(OURS, "rb") as file:
        return extism.Plugin(file.read(), wasi=True, functions=FUNCTIONS)


def run(plugin: extism.Plugin) -> str:
    """The outcome's type, or the error's code."""
    call = {"remote": True, "write": False, "seed": 1, "started_us": 0}
    request = json.dumps({"policy": "omnigraph", "call": call})
    answer = json.loads(bytes(plugin.call("run", request)))
    said = answer["ok"]["outcome"]["type"] if "ok" in answer else answer["error"]["code"]
    return str(said)


def decide(plugin: extism.Plugin, seed: int) -> str:
    call = {"remote": True, "write": False, "seed": seed}
    request = json.dumps({"policy": "omnigraph", "call": call, "event": FAILED})
    try:
        return bytes(plugin.call("decide", request)).decode()
    except extism.Error as error:
        return repr(error)


def afterwards(plugin: extism.Plugin) -> str:
    """Whether the instance still decides."""
    right = [decide(plugin, seed).startswith('{"v":1,"ok"') for seed in range(2)]
    if right == [False, True]:
        return "the next call fails too, then the instance goes on"
    return "the instance goes on" if all(right) else "the instance is lost"


@contextlib.contextmanager
def quiet() -> Any:
    """Keeps what is printed of exceptions out of the facts."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        yield said


def probing(probe: str) -> extism.Plugin:
    with open(probe, "rb") as file:
        return extism.Plugin(file.read(), wasi=True)


def code(probe: str) -> str:
    try:
        probing(probe).call("seven", b"")
    except extism.Error as error:
        return f"an error, `{error}`; the output is lost"
    return "not noticed"


def clock(probe: str) -> str:
    seen = int.from_bytes(bytes(probing(probe).call("clock", b"")), "little") / 1e9
    return "the real one" if abs(time.time() - seen) < 600 else f"not the real one: {seen} s"


def missing() -> str:
    with open(OURS, "rb") as file:
        wasm = file.read()
    try:
        extism.Plugin(wasm, wasi=True, functions=[])
    except extism.Error as error:
        named = "outlast_" in str(error)
        return "an error that names it" if named else "an error that does not name it"
    return "not noticed when it is loaded"


def exception() -> str:
    plugin = load()
    try:
        with quiet() as printed:
            said = run(plugin)
    except extism.Error:
        said = "the call fails"
    else:
        where = " and printed on stderr" if "boom" in printed.getvalue() else ""
        said = f"swallowed{where}; `run` ends with `{said}`"
    return f"{said}; {afterwards(plugin)}"


def cancel() -> str:
    waiting = threading.Event()

    def slow() -> dict[str, Any]:
        waiting.set()
        time.sleep(1)
        return {"wait": "full", "now_us": 500_001}

    plugin = load(slow, loading)
    handle = plugin.cancel_handle()
    began = time.monotonic()
    threading.Thread(target=lambda: waiting.wait() and handle.cancel()).start()
    try:
        said = f"`{run(plugin)}`"
    except extism.Error as error:
        said = f"an error, `{error}`" if str(error) else "an error without a text"
    late = time.monotonic() - began > 0.9
    when = "once the host function has returned" if late else "at once"
    return f"`cancel_handle`: {when}; {said}; {afterwards(plugin)}"


def wrong(instance: Callable[[], extism.Plugin]) -> int:
    """How many wrong answers threads get of the instances given."""
    one = load()
    want = [decide(one, seed) for seed in range(DECISIONS)]
    found: list[int] = []

    def ask(plugin: extism.Plugin) -> None:
        found.extend(seed for seed in range(DECISIONS) if decide(plugin, seed) != want[seed])

    threads = [
        threading.Thread(target=ask, args=(instance(),), daemon=True) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return len(found) + sum(thread.is_alive() for thread in threads)


def shared() -> str:
    plugin = load()
    # Which thread is served when is chance, so it may take a few tries.
    seen = any(wrong(lambda: plugin) for _ in range(20))
    return "wrong answers without an error, or it never ends" if seen else "nothing seen"


def apart() -> str:
    count = wrong(load)
    return "all right" if not count else f"{count} of {THREADS * DECISIONS} wrong"


def main() -> None:
    probe = sys.argv[1]
    facts = {
        "code": code(probe),
        "clock": clock(probe),
        "missing": missing(),
        "exception": exception(),
        "cancelled": f"`{run(load(cancelled, loading))}`",
        "cancel": cancel(),
        "apart": apart(),
        "shared": shared(),
    }
    for row, words in facts.items():
        print(f"fact: {row}: {' '.join(words.split())}")
    sys.stdout.flush()
    os._exit(0)  # an instance that threads have shared need not close well


main()

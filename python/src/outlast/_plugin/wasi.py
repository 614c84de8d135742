"""What Go's runtime asks of WASI. The policy asks for nothing of it, so there are no
files, no arguments and no environment; wasmtime's own WASI would start threads, which
a forked child does not have.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import wasmtime

MODULE = "wasi_snapshot_preview1"

DONE = 0
NO_SUCH_FILE = 8
"""Of WASI's error numbers."""


def define(linker: wasmtime.Linker, module: wasmtime.Module) -> None:
    """Give a module the functions of WASI that it imports. Those that are not here are
    about files, of which there are none.
    """
    imports: Any = module.imports  # some of them twice
    for name, wanted in {i.name: i.type for i in imports if i.module == MODULE}.items():
        linker.define_func(MODULE, name, wanted, _FUNCTIONS.get(name, _absent), access_caller=True)


def _absent(*_: Any) -> int:
    return NO_SUCH_FILE


def _done(*_: Any) -> int:
    return DONE


def _nothing(caller: wasmtime.Caller, count: int, size: int) -> int:
    _write(caller, bytes(4), count)
    return _write(caller, bytes(4), size)


def _clock(caller: wasmtime.Caller, _id: int, _precision: int, at: int) -> int:
    return _write(caller, time.time_ns().to_bytes(8, "little"), at)


def _random(caller: wasmtime.Caller, at: int, length: int) -> int:
    return _write(caller, os.urandom(length), at)


def _exit(_: wasmtime.Caller, code: int) -> None:
    raise RuntimeError(f"the plugin ended itself with {code}")


def _write(caller: wasmtime.Caller, data: bytes, at: int) -> int:
    memory: Any = caller["memory"]
    memory.write(caller, bytearray(data), at)
    return DONE


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "args_get": _done,
    "args_sizes_get": _nothing,
    "clock_time_get": _clock,
    "environ_get": _done,
    "environ_sizes_get": _nothing,
    "poll_oneoff": _done,
    "proc_exit": _exit,
    "random_get": _random,
    "sched_yield": _done,
}

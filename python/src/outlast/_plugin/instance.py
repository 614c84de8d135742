"""An instance of the plugin."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from . import wasi
from .function import function
from .memory import Memory

if TYPE_CHECKING:
    import wasmtime

MARKER = "outlast_abi_1"
"""The export whose presence says which contract the plugin keeps."""

EXPORTS = ("describe", "check", "decide", "run")
KERNEL_MODULE = "extism:host/env"
USER_MODULE = "extism:host/user"


MEMORY_LIMIT = 64 << 20
"""Bytes that an instance's memory may have (a choice: a request of the largest size takes
less than half of it)."""


class Host(Protocol):
    """What answers the plugin's host functions while ``run`` is running. No
    bytes as an answer mean that the host failed.

    What these raise is caught, whatever it is: an exception cannot pass through
    the plugin. ``failed`` gets it, and the plugin an empty answer.
    """

    def now(self) -> bytes: ...
    def sleep(self, action: bytes) -> bytes: ...
    def attempt(self, action: bytes) -> bytes: ...
    def failed(self, error: BaseException) -> None: ...


class Instance:
    """One instance of the plugin and of its memory, for one thread at a time."""

    def __init__(
        self, linker: wasmtime.Linker, kernel: wasmtime.Module, module: wasmtime.Module
    ) -> None:
        import wasmtime

        self._store = store = wasmtime.Store(linker.engine)
        store.set_limits(memory_size=MEMORY_LIMIT)
        shared = wasmtime.Instance(store, kernel, []).exports(store)
        self._memory = Memory(store, shared)

        def given(module: str, name: str) -> Any:
            try:
                return shared[name] if module == KERNEL_MODULE else linker.get(store, module, name)
            except (KeyError, wasmtime.WasmtimeError) as e:
                raise ValueError(
                    f"it imports {name!r} from {module!r}, which this package does not give"
                ) from e

        imports = [given(i.module, i.name or "") for i in module.imports]
        exports: Any = wasmtime.Instance(store, module, imports).exports(store)
        for name in (MARKER, *EXPORTS):
            if name not in exports:
                raise ValueError(
                    f"it has no export {name!r}, so it is not a plugin of this contract"
                )
        self._exports = {name: function(store, exports[name]) for name in EXPORTS}
        if "_initialize" in exports:
            exports["_initialize"](store)

    def call(self, export: str, data: bytes, host: Host | None = None) -> bytes:
        """Give bytes to an export and get its answer, an envelope.

        Args:
            export: One of :data:`EXPORTS`.
            data: The request.
            host: Answers the host functions; ``None``: they fail.

        Raises:
            Exception: Any, if the plugin failed. The instance must not be used
                again then.
        """
        if export not in self._exports:
            raise ValueError(f"the plugin has no export {export!r}")
        if host is not None and _in_greenlet():
            return _NOT_IN_A_GREENLET
        self._memory.start(data)
        outer = _calling.under_way
        _calling.under_way = None if host is None else (self._memory, host)
        try:
            code = self._exports[export]()
        finally:
            _calling.under_way = outer
        if code != 0:
            raise ValueError(f"{export} returned {code}")
        return self._memory.output()

    def close(self) -> None:
        """Free the instance. It must not be used after that."""
        self._store.close()


_NOT_IN_A_GREENLET = (
    b'{"v":1,"error":{"code":"host_failed","message":"a plugin that drives a call cannot be'
    b' left in the midst of it, as greenlets do: let Python drive"}}'
)


def _in_greenlet() -> bool:
    """Whether this is a greenlet other than the thread's first. Those that leave the engine
    in another order than they went in end the process.
    """
    greenlets = sys.modules.get("greenlet")
    return greenlets is not None and greenlets.getcurrent().parent is not None


class _Calling(threading.local):
    """The memory and the host of the call that this thread is in. Host functions run
    on the thread that called, and an attempt may itself make a call that is driven by
    the plugin.
    """

    under_way: tuple[Memory, Host] | None = None


_calling = _Calling()


def _host_function(answer: Callable[[Host, bytes], bytes]) -> Callable[[int], int]:
    def call(offset: int) -> int:
        if _calling.under_way is None:
            return 0
        memory, host = _calling.under_way
        try:
            text = answer(host, memory.block(offset))
            return memory.give(text) if text else 0
        except BaseException as e:
            # 0 tells the plugin that its host failed.
            host.failed(e)
            return 0

    return call


def link(engine: wasmtime.Engine, module: wasmtime.Module) -> wasmtime.Linker:
    """What a plugin gets besides its memory. It is made once for all instances: not all
    releases of wasmtime let several threads make functions at once.
    """
    import wasmtime

    linker = wasmtime.Linker(engine)
    wasi.define(linker, module)
    offset = wasmtime.ValType.i64()
    for name, answer in _HOST_FUNCTIONS.items():
        signature = wasmtime.FuncType([offset], [offset])
        linker.define_func(USER_MODULE, name, signature, answer)
    return linker


_HOST_FUNCTIONS: dict[str, Callable[[int], int]] = {
    "outlast_now": _host_function(lambda host, _: host.now()),
    "outlast_sleep": _host_function(lambda host, action: host.sleep(action)),
    "outlast_attempt": _host_function(lambda host, action: host.attempt(action)),
}

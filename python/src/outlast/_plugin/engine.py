"""The plugin on Extism's runtime. Importing this module imports nothing of it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .._call.errors import PluginError
from . import cache

MARKER = "outlast_abi_1"
"""The export whose presence says which contract the plugin keeps."""

EXPORTS = ("describe", "check", "decide", "run")
USER_MODULE = "extism:host/user"

CACHE_VARIABLE = "EXTISM_CACHE_CONFIG"
"""The variable in which Extism's runtime looks for its cache's configuration."""

CALLBACK = "void(ExtismCurrentPlugin*, const ExtismVal*, ExtismSize, ExtismVal*, ExtismSize, void*)"

log = logging.getLogger("outlast")


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


@dataclass(frozen=True)
class Loading:
    """How the plugin was loaded.

    Attributes:
        cache: The directory where native code is kept; ``None``: nowhere.
        why: Why nowhere, or ``""``.
        took: Seconds of real time.
    """

    cache: Path | None
    why: str
    took: float


class Engine:
    """The plugin, compiled once for a process. Any thread may use it."""

    def __init__(self, wasm: bytes) -> None:
        self._wasm = wasm
        self._compiled: Any = None
        self._functions: list[Any] = []
        self.loading: Loading

    def compile(self) -> None:
        """Compile the plugin, or take its code from the cache.

        Raises:
            PluginError: If the runtime is not installed, or refuses the plugin.
        """
        began = time.perf_counter()
        try:
            self._functions = _host_functions()
            where, why = self._compile_cached()
        except ImportError as e:
            raise PluginError("loading the plugin", f"cannot import extism: {e}") from e
        except Exception as e:
            raise PluginError("loading the plugin", str(e)) from e
        self.loading = Loading(where, why, time.perf_counter() - began)

    def _compile_cached(self) -> tuple[Path | None, str]:
        if CACHE_VARIABLE in os.environ:
            return self._compile_by_variable()
        try:
            configuration = cache.configuration()
        except cache.UnusableError as e:
            self._compile_with("")
            return None, str(e)
        try:
            self._compile_with(str(configuration))
        except Exception as e:
            log.debug("outlast: the cache of compiled code failed: %s", e)
            self._compile_with("")
            return None, f"the runtime refused it: {e}"
        return configuration.parent / "native", ""

    def _compile_by_variable(self) -> tuple[Path | None, str]:
        """The user has configured the runtime's cache: that is obeyed, but a
        cache that does not work must not be what ends a call.
        """
        configuration = os.environ[CACHE_VARIABLE]
        try:
            self._compile_with(configuration)
        except Exception as e:
            if not configuration:
                raise
            self._compile_with("")
            return None, f"{CACHE_VARIABLE} is {configuration!r}, which the runtime refused: {e}"
        if not configuration:
            return None, f"{CACHE_VARIABLE} is empty"
        return Path(configuration), ""

    def _compile_with(self, configuration: str) -> None:
        from extism.extism import CompiledPlugin

        with _variable(CACHE_VARIABLE, configuration):
            self._compiled = CompiledPlugin(self._wasm, wasi=True, functions=self._functions)

    def instance(self) -> Instance:
        """A new instance.

        Raises:
            PluginError: If the module is not a plugin of this contract.
        """
        import extism

        try:
            plugin = extism.Plugin(self._compiled)
        except Exception as e:
            raise PluginError("starting the plugin", str(e)) from e
        missing = [name for name in (MARKER, *EXPORTS) if not plugin.function_exists(name)]
        if missing:
            raise PluginError(
                "starting the plugin",
                f"it has no export {missing[0]!r}, so it is not a plugin of this contract",
            )
        return Instance(plugin)


class Instance:
    """One instance of the plugin, for one thread at a time: a call and the
    reading of its output are two steps.
    """

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin

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
        outer = getattr(_calling, "host", None)
        _calling.host = host
        try:
            answer: bytes = self._plugin.call(export, data)
        finally:
            _calling.host = outer
        return answer

    def close(self) -> None:
        """Free the instance. It must not be used after that."""
        self._plugin = None


_calling = threading.local()
"""The host of the call that this thread is in. Host functions run on the thread
that called, and an attempt may itself make a call that is driven by the plugin."""


def _host_functions() -> list[Any]:
    """The host functions, with callbacks of this package: those of Extism's decorator
    lose an exception that is raised in the decorator's own code, such as Ctrl-C
    at the wrong moment, and stay in a list that all other plugins get too.
    """
    return [
        _host_function("outlast_now", lambda host, _: host.now()),
        _host_function("outlast_sleep", lambda host, action: host.sleep(action)),
        _host_function("outlast_attempt", lambda host, action: host.attempt(action)),
    ]


def _host_function(name: str, answer: Callable[[Host, bytes], bytes]) -> Any:
    import extism
    from extism_sys import ffi

    def callback(current: Any, inputs: Any, _n: int, outputs: Any, _m: int, _data: Any) -> None:
        host = _calling.host
        if host is None:
            return
        plugin = extism.CurrentPlugin(current)
        text = answer(host, plugin.input_bytes(extism.Val(extism.ValType.I64, inputs[0].v.i64)))
        if text:
            block = plugin.alloc(len(text))
            plugin.memory(block)[:] = text
            outputs[0].v.i64 = block.offset

    def failed(_type: Any, error: BaseException, _traceback: Any) -> None:
        # The answer stays 0, which tells the plugin that its host failed.
        if _calling.host is not None:
            _calling.host.failed(error)

    return extism.Function(
        USER_MODULE,
        name,
        [extism.ValType.I64],
        [extism.ValType.I64],
        ffi.callback(CALLBACK, callback, onerror=failed),
    )


_environment = threading.Lock()


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for a while. The runtime takes the place of
    its cache from nothing else.
    """
    with _environment:
        before = os.environ.get(name)
        os.environ[name] = value
        try:
            yield
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before

"""The plugin on wasmtime. Importing this module imports nothing of that."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._call.errors import PluginError
from . import cache, file
from .instance import Instance, link

if TYPE_CHECKING:
    import wasmtime

INTERPRETER = "pulley64"
"""wasmtime's own kind of processor, which it interprets."""

GROWTH = 1 << 20
"""Bytes by which a memory that grows has room for more (a choice)."""


@dataclass(frozen=True)
class Loading:
    """How the plugin was loaded.

    Attributes:
        cache: The directory where compiled code is kept; ``None``: nowhere.
        why: Why nowhere, or ``""``.
        took: Seconds of real time.
        interpreted: Why the plugin is interpreted, which is where this process may not
            run what it has compiled; else ``""``.
    """

    cache: Path | None
    why: str
    took: float
    interpreted: str


class Engine:
    """The plugin, compiled once for a process. Any thread may use it, and a process
    that is forked later too.

    Args:
        wasm: The plugin.
        digest: Its SHA-256 in hexadecimal digits.
    """

    loading: Loading

    def __init__(self, wasm: bytes, digest: str) -> None:
        self.idle: list[Instance] = []
        """Between two decisions, for any thread."""
        self._wasm = wasm
        self._digest = digest
        self._engine: Any = None
        self._kernel: Any = None
        self._module: Any = None
        self._linker: Any = None

    def compile(self) -> None:
        """Compile the plugin, or take its code from the cache.

        Raises:
            PluginError: If wasmtime is not installed, or refuses the plugin.
        """
        began = time.perf_counter()
        try:
            target, interpreted = self._start()
            where, why = self._load(target)
            self._linker = link(self._engine, self._module)
        except ImportError as e:
            raise PluginError("loading the plugin", f"cannot import wasmtime: {e}") from e
        except Exception as e:
            raise PluginError("loading the plugin", _line(e)) from e
        self._wasm = b""
        self.loading = Loading(where, why, time.perf_counter() - began, interpreted)

    def _start(self) -> tuple[str, str]:
        """Compile the module of the memory, which takes 2 ms, and so find out whether
        compiled code may be run here: what to compile the plugin for, and why that is
        the interpreter.
        """
        import wasmtime

        kernel, why = file.kernel(), ""
        for target in ("", INTERPRETER):
            self._engine = _engine(target)
            try:
                self._kernel = wasmtime.Module(self._engine, kernel)
                break
            except wasmtime.WasmtimeError as e:
                if target:
                    raise
                why = _line(e)
        return target, why

    def _load(self, target: str) -> tuple[Path | None, str]:
        """Load the plugin. The answer is where its code is kept, or why nowhere."""
        from wasmtime import Module

        try:
            kept = cache.Code(self._key())
        except cache.UnusableError as e:
            self._module = Module.deserialize(self._engine, self._compiled(target))
            return None, str(e)
        path = kept.find()
        if path is not None:
            try:
                self._module = Module.deserialize_file(self._engine, str(path))
                return kept.folder, ""
            except Exception:
                kept.drop(path)
        code = self._compiled(target)
        self._module = Module.deserialize(self._engine, code)
        why = kept.keep(code)
        return None if why else kept.folder, why

    def _key(self) -> str:
        """The name of compiled code. The memory's module, compiled, has in it what else
        the code depends on: wasmtime's release, the kind of processor, the settings.
        """
        beside = hashlib.sha256(self._kernel.serialize())
        beside.update(self._digest.encode())
        return beside.hexdigest()[:32]

    def _compiled(self, target: str) -> bytearray:
        """Compile the plugin, on as many threads as there are processors. These stay,
        and a process that is forked later has none of them: it compiles on its own.
        """
        global _compiler_of
        import wasmtime

        parallel = _compiler_of in (None, os.getpid())
        if parallel:
            _compiler_of = os.getpid()
        return wasmtime.Module(_engine(target, parallel), self._wasm).serialize()

    def instance(self) -> Instance:
        """A new instance.

        Raises:
            PluginError: If the module is not a plugin of this contract.
        """
        try:
            return Instance(self._linker, self._kernel, self._module)
        except Exception as e:
            raise PluginError("starting the plugin", _line(e)) from e


def _line(error: Exception) -> str:
    """What went wrong, in one line: wasmtime's errors have their causes below them, and
    a stack if ``RUST_BACKTRACE`` says so.
    """
    return " ".join(str(error).partition("Stack backtrace:")[0].split())


_compiler_of: int | None = None
"""The process whose threads compile, if any were started."""


def _engine(target: str, parallel: bool = False) -> wasmtime.Engine:
    """An engine. Compiling takes half a second less without the optimizer, which makes a
    decision a tenth quicker.
    """
    import wasmtime

    config = wasmtime.Config()
    if _address_space_is_limited():
        # wasmtime sets 4 GiB aside for each memory, so that no access needs a check.
        config.memory_reservation = 0
        config.memory_guard_size = 0
        config.memory_reservation_for_growth = GROWTH
    config.cranelift_opt_level = "none"
    config.parallel_compilation = parallel
    config.native_unwind_info = False
    config.macos_use_mach_ports = False  # they are a thread's, which a forked child has not
    if target:
        config.target = target
    return wasmtime.Engine(config)


def _address_space_is_limited() -> bool:
    """Whether it is, as ``ulimit -v`` does."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY

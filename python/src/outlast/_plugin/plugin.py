"""The plugin, for any number of threads."""

from __future__ import annotations

import copy
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._call.errors import PluginError
from .envelope import AnswerError, is_answer, open_envelope
from .gate import Gate

if TYPE_CHECKING:
    from .engine import Engine, Loading
    from .instance import Host, Instance


class Plugin:
    """The plugin, for any number of threads.

    Nothing is loaded before it is needed. The code is compiled once for the
    process, and for those that it forks, and stays to the process's end: all objects
    of the same file share it, and its instances. An instance serves one thread at a
    time, for one decision; there are as many as processors, since more cannot decide
    at the same moment, and a thread that waits between two decisions holds none.

    Args:
        path: Another plugin than the one that this package carries.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._replaced = 0
        self._minor: int | None = None
        self._engine: Engine | None = None
        self._compiled = _compiled
        self._digest = ""
        self._unreported: Loading | None = None
        self._after_fork()
        _plugins.add(self)

    def _after_fork(self) -> None:
        """Keep what was loaded; what another thread held or was loading is lost."""
        self._lock = threading.Lock()
        self._load: _Load | None = None

    @property
    def loaded(self) -> bool:
        """Whether the plugin is ready to decide."""
        return self._engine is not None

    @property
    def replaced(self) -> int:
        """How many instances have failed and been replaced."""
        return self._replaced

    @property
    def sha256(self) -> str:
        """The digest of the plugin's file. Nothing is compiled for it.

        Raises:
            PluginError: If the file cannot be read, or is not what was built.
        """
        if not self._digest:
            from . import file

            _, self._digest = file.read(self._path)
        return self._digest

    def load(self) -> None:
        """Load the plugin, if it is not loaded. Ctrl-C ends the wait at once.

        Raises:
            PluginError: If it cannot be loaded.
        """
        loading = self.loading()
        if loading is not None:
            loading.wait()

    def loading(self) -> _Load | None:
        """The loading of the plugin, which begins now if it has not; ``None``: it is loaded."""
        if self._engine is not None:
            return None
        with self._lock:
            load = self._load
            first = load is None
            if load is None:
                load = self._load = _Load(self)
        if first:  # without the lock: where threads are greenlets, others go on here
            load.start()
        return load

    def warm_up(self) -> None:
        """Load the plugin, and make a decision. :func:`warm_up` is this of the plugin
        that the package carries.

        Raises:
            PluginError: If it cannot be loaded, or cannot decide.
        """
        try:
            self.ask("decide", _DECISION)
        except AnswerError as e:
            raise e.refusal("asking the plugin", None) from e

    def knows(self, minor: int) -> bool:
        """Whether the plugin has a minor version of the contract, and so the words
        that came with it. A file of the caller's own is asked, once.

        Raises:
            PluginError: If it cannot be loaded.
        """
        if self._path is None:
            return True
        if self._minor is None:
            self._minor = int(self.ask("describe", b"")["abi"]["minor"])
        return self._minor >= minor

    def take_loading(self) -> Loading | None:
        """How the plugin was loaded, for the first that asks."""
        if self._unreported is None:
            return None
        with self._lock:
            loading, self._unreported = self._unreported, None
        return loading

    def ask(
        self, export: str, request: bytes, replaced: Callable[[Exception], None] | None = None
    ) -> Mapping[str, Any]:
        """Give a request to an export, and get what its answer has as ``ok``. An
        instance that fails is replaced once, and asked again.

        Args:
            export: ``describe``, ``check`` or ``decide``.
            request: The request.
            replaced: Told of an instance that failed.

        Raises:
            AnswerError: If the plugin answered an error.
            PluginError: If it could not be loaded, or failed twice.
        """
        self.load()
        try:
            return self._ask_once(export, request)
        except Exception as e:
            if is_answer(e):
                raise
            first = e
        self.count_replaced()
        if replaced is not None:
            replaced(first)
        try:
            return self._ask_once(export, request)
        except Exception as e:
            if is_answer(e):
                raise
            self.count_replaced()
            raise PluginError("asking the plugin", f"{first} (and again: {e})") from e

    def _ask_once(self, export: str, request: bytes) -> Mapping[str, Any]:
        assert self._engine is not None
        idle = self._engine.idle
        with _gate:
            try:
                instance = idle.pop()
            except IndexError:
                instance = self.new_instance()
            try:
                ok = open_envelope(instance.call(export, request))
            except BaseException as e:
                if is_answer(e):
                    idle.append(instance)
                else:
                    instance.close()
                raise
            idle.append(instance)
            return ok

    def new_instance(self) -> Instance:
        """An instance for the caller alone.

        Raises:
            PluginError: If there can be none.
        """
        self.load()
        engine = self._engine
        assert engine is not None
        with _gate:
            return engine.instance()

    def count_replaced(self) -> None:
        """Count an instance that failed."""
        with self._lock:
            self._replaced += 1

    def call(self, export: str, data: bytes, host: Host | None = None) -> bytes:
        """Give bytes to an export of a new instance, and get the bytes that it
        answers: the contract with nothing around it.

        Args:
            export: ``describe``, ``check``, ``decide`` or ``run``.
            data: The request.
            host: Answers the host functions.

        Raises:
            PluginError: If the plugin cannot be loaded, or no answer came back.
        """
        instance = self.new_instance()
        try:
            return instance.call(export, data, host)
        except Exception as e:
            raise PluginError(f"calling {export}", str(e)) from e
        finally:
            instance.close()


class _Load:
    """One loading of a plugin, on a thread of its own: the main thread could not
    be interrupted while it is in the runtime's compiler.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._done = threading.Event()
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self._told: list[Callable[[], None]] = []

    def tell(self, told: Callable[[], None]) -> None:
        """Call a function once it is over, on any thread."""
        with self._lock:
            if not self._done.is_set():
                self._told.append(told)
                return
        told()

    def _over(self) -> None:
        with self._lock:
            self._done.set()
            told, self._told = self._told, []
        for each in told:
            each()

    def start(self) -> None:
        try:
            threading.Thread(target=self._load, name="outlast-load", daemon=True).start()
        except RuntimeError as e:  # at the interpreter's end, and in a subinterpreter
            self._plugin._load = None  # the next call may try again
            self._error = PluginError("loading the plugin", f"no thread can be started: {e}")
            self._over()

    def _load(self) -> None:
        from . import file
        from .engine import Engine

        plugin = self._plugin
        try:
            wasm, digest = file.read(plugin._path)
            with _compiling:
                engine = plugin._compiled.get(digest)
                if engine is None:
                    engine = Engine(wasm, digest)
                    with _gate:
                        engine.compile()
                        engine.instance().close()  # shows whether it is a plugin at all
                    plugin._compiled[digest] = engine
                    plugin._unreported = engine.loading
        except Exception as e:
            self._error = e
            plugin._load = None  # the next call may try again
        else:
            plugin._digest = digest
            plugin._engine = engine
        finally:
            self._over()

    def wait(self) -> None:
        self._done.wait()
        if self._error is not None:
            raise copy.copy(self._error) from self._error


_DECISION = (
    b'{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1},'
    b'"event":{"type":"attempted","now_us":0,"result":{"exit_code":75}}}'
)
"""A request for a decision, about nothing."""

_plugins: weakref.WeakSet[Plugin] = weakref.WeakSet()
_gate = Gate(os.cpu_count() or 1)


_compiled: dict[str, Engine] = {}
"""The engines of all plugins, by the digest of their files."""

_compiling = threading.Lock()


def _after_fork() -> None:
    global _compiling
    _compiling = threading.Lock()  # another thread may have been loading
    _gate.reopen()
    for plugin in _plugins:
        plugin._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_gate.close, after_in_parent=_gate.open, after_in_child=_after_fork)

_default = Plugin()


def default_plugin() -> Plugin:
    """The plugin that this package carries, shared by all of a process."""
    return _default


def warm_up() -> None:
    """Load the plugin now, not at the first failure, and make a decision: for a program's
    start, so that what is missing is told then, and not first in an outage. It takes
    50 ms where the plugin's compiled code is cached, and a second or two where it is not. What is
    forked after that has it loaded too.

    Raises:
        PluginError: If the plugin cannot be loaded, or cannot decide.
    """
    _default.warm_up()

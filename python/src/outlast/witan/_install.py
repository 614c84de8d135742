"""Puts the plugin into witan-core's modules, and takes it out again."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ._backoffs import Backoffs
from ._generations import TWO_TRANSPORTS, Generation, Helper
from ._loop import CommandResult, Loop
from ._modules import Modules
from ._recognition import Recognition
from ._sources import recognise

OMNIGRAPH = "witan_core.omnigraph"
HTTP = "witan_core.omnigraph_http"


@dataclass(frozen=True)
class Replacement:
    """One attribute that is replaced.

    Attributes:
        owner: A module or a class.
        name: The attribute's.
        original: What it was.
        replacement: What it is while this is installed.
    """

    owner: Any
    name: str
    original: Any
    replacement: Any

    @property
    def in_force(self) -> bool:
        """Whether nobody else has replaced the attribute again."""
        return vars(self.owner).get(self.name) is self.replacement


class Installation:
    """witan-core's modules with the plugin in them."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._omnigraph = modules.omnigraph
        self._helpers = modules.generation.helpers
        self._backoffs = Backoffs(modules)
        self._replacements = tuple(self._plan())

    def put_in(self) -> None:
        """Replace what decides."""
        for each in self._replacements:
            setattr(each.owner, each.name, each.replacement)

    def take_out(self) -> None:
        """Put back what was there, except where somebody else has replaced it again."""
        for each in self._replacements:
            if each.in_force:
                setattr(each.owner, each.name, each.original)

    def foreign_helpers(self) -> dict[str, Callable[[int], float]]:
        """By their budgets the backoff helpers that somebody else, such as a test,
        has replaced again. Their delays count.
        """
        foreign: dict[str, Callable[[int], float]] = {}
        replaced = {r.name: r for r in self._replacements if r.owner is self._omnigraph}
        for name, helper in self._helpers.items():
            follows = bool(helper.base) and not replaced["_jittered_backoff"].in_force
            if follows or not replaced[name].in_force:
                foreign[helper.budget] = getattr(self._omnigraph, name)
        return foreign

    def _plan(self) -> Iterator[Replacement]:
        client = self._omnigraph.OmnigraphClient
        yield _replacement(self._omnigraph, "_jittered_backoff", self._backoffs.jittered)
        for name, helper in self._helpers.items():
            yield _replacement(self._omnigraph, name, self._helper(helper))
        if self._modules.generation is not TWO_TRANSPORTS:
            yield _replacement(client, "_execute", self._execute())
            return
        recognition = Recognition(self._modules)
        yield _replacement(self._omnigraph, "_cli_failure", recognition.cli_failure)
        yield _replacement(self._omnigraph, "_classify_cli_error", recognition.classify_cli_error)
        yield _replacement(self._modules.http, "classify_status", recognition.classify_status)
        yield _replacement(client, "_retry_loop", self._retry_loop())

    def _helper(self, helper: Helper) -> Callable[[int], float]:
        if helper.base:
            return self._backoffs.helper(helper.base, helper.cap)
        return self._backoffs.conflict

    def _retry_loop(self) -> Callable[..., str]:
        def retry_loop(
            client: Any,
            attempt_once: Callable[[], Any],
            label: str,
            *,
            env: dict[str, str],
            is_write: bool,
            surface_conflict: bool,
            deadline: float | None,
        ) -> str:
            """Make attempts until one succeeds; outlast's policy decides."""
            return Loop(
                self._modules,
                self.foreign_helpers(),
                client,
                label,
                env=env,
                is_write=is_write,
                surface_conflict=surface_conflict,
                deadline=deadline,
            ).run(attempt_once)

        return retry_loop

    def _execute(self) -> Callable[..., str]:
        omnigraph = self._omnigraph

        def execute(
            client: Any,
            cmd: list[str],
            label: str,
            *,
            is_write: bool,
            surface_conflict: bool = False,
        ) -> str:
            """Run a command under the store's lock; outlast's policy decides."""
            env = _environment(omnigraph, client)

            def attempt() -> CommandResult:
                try:
                    result = omnigraph.subprocess.run(cmd, capture_output=True, text=True, env=env)
                except OSError as e:
                    raise RuntimeError(f"omnigraph {label} could not run: {e}") from e
                return CommandResult(result.stdout, result.stderr, result.returncode)

            lock = client._acquire_write_lock(is_write)
            try:
                return Loop(
                    self._modules,
                    self.foreign_helpers(),
                    client,
                    label,
                    env=env,
                    is_write=is_write,
                    surface_conflict=surface_conflict,
                    deadline=None,
                ).run(attempt)
            finally:
                if lock is not None:
                    omnigraph.fcntl.flock(lock.fileno(), omnigraph.fcntl.LOCK_UN)
                    lock.close()

        return execute


def _replacement(owner: Any, name: str, replacement: Any) -> Replacement:
    return Replacement(owner, name, vars(owner)[name], replacement)


def _environment(omnigraph: ModuleType, client: Any) -> dict[str, str]:
    """A command's environment: a local store gets no token, a server the
    client's, or that of the environment.
    """
    env = dict(omnigraph.os.environ)
    if not client.is_remote:
        env.pop(omnigraph.BEARER_TOKEN_ENV_VAR, None)
    elif client.token:
        env[omnigraph.BEARER_TOKEN_ENV_VAR] = client.token
    return env


_lock = threading.Lock()
_installation: Installation | None = None


def install() -> None:
    """Put the plugin in place of witan-core's retry loop, classifiers, failure
    text and backoff helpers. A second call changes nothing.

    Calls that are under way go on as they began.

    Raises:
        ImportError: If witan-core is not installed.
        UnsupportedVersionError: If this release of it is not known. Nothing is
            changed then.
    """
    install_as(recognise)


def install_as(find: Callable[[ModuleType, ModuleType | None], Generation]) -> None:
    """The same, with another way to find the generation: a release that is not
    known yet is tested so.
    """
    global _installation
    with _lock:
        if _installation is not None:
            return
        omnigraph = importlib.import_module(OMNIGRAPH)
        http = _import(HTTP)
        installation = Installation(Modules(find(omnigraph, http), omnigraph, http))
        installation.put_in()
        _installation = installation


def uninstall() -> None:
    """Put witan-core's own code back. Without :func:`install` nothing happens."""
    global _installation
    with _lock:
        if _installation is not None:
            _installation.take_out()
        _installation = None


def installed() -> bool:
    """Whether the plugin decides for witan-core."""
    return _installation is not None


def _import(name: str) -> ModuleType | None:
    """A module that older releases lack."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        return None

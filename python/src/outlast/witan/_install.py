"""Puts the plugin into witan-core's modules, and takes it out again."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .._policy import Policy
from . import _documents
from ._backoffs import Backoffs
from ._generations import TWO_TRANSPORTS, Generation, Helper
from ._loop import Command, Loop
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
        ours: What it is while this is installed.
    """

    owner: Any
    name: str
    original: Any
    ours: Any

    @property
    def in_force(self) -> bool:
        """Whether the attribute is ours and not somebody else's again."""
        return vars(self.owner).get(self.name) is self.ours


class Installation:
    """witan-core's modules with the plugin in them.

    Attributes:
        omnigraph: The module ``witan_core.omnigraph``.
        backoffs: What stands in for its helpers.
    """

    def __init__(
        self, generation: Generation, omnigraph: ModuleType, http: ModuleType | None
    ) -> None:
        self._generation = generation
        self.omnigraph = omnigraph
        self._http = http
        self.backoffs = Backoffs(self)
        self._replacements = tuple(self._plan())

    def put_in(self) -> None:
        """Replace what decides."""
        for replacement in self._replacements:
            setattr(replacement.owner, replacement.name, replacement.ours)

    def take_out(self) -> None:
        """Put back what was there, but where somebody else has replaced ours."""
        for replacement in self._replacements:
            if replacement.in_force:
                setattr(replacement.owner, replacement.name, replacement.original)

    def policy(self, storage: bool, heard: frozenset[str]) -> Policy:
        """The policy with the constants that witan-core has at this moment."""
        return _documents.policy(self._generation, self._constants(), storage, heard)

    def classifier(self) -> Policy:
        """The same for what a command or a server says."""
        return _documents.classifier(self._generation, self._constants())

    def _constants(self) -> _documents.Constants:
        return _documents.constants(self._generation, self.omnigraph, self._http)

    def draw(self) -> float:
        """The chance for one delay, from 0 to 1, from witan-core's randomness."""
        drawn: float = self.omnigraph.random.uniform(0.0, 1.0)
        return max(0.0, min(drawn, 1.0))

    def foreign_helpers(self) -> dict[str, Callable[[int], float]]:
        """By their budgets the backoff helpers that are not ours at this moment,
        since a test, say, has replaced them. Their delays count.
        """
        foreign: dict[str, Callable[[int], float]] = {}
        ours = {r.name: r for r in self._replacements if r.owner is self.omnigraph}
        for name, helper in self._generation.helpers.items():
            follows = bool(helper.base) and not ours["_jittered_backoff"].in_force
            if follows or not ours[name].in_force:
                foreign[helper.budget] = getattr(self.omnigraph, name)
        return foreign

    def _plan(self) -> Iterator[Replacement]:
        client = self.omnigraph.OmnigraphClient
        yield _replacement(self.omnigraph, "_jittered_backoff", self.backoffs.jittered)
        for name, helper in self._generation.helpers.items():
            yield _replacement(self.omnigraph, name, self._helper(helper))
        if self._generation is not TWO_TRANSPORTS:
            yield _replacement(client, "_execute", self._execute())
            return
        recognition = Recognition(self)
        yield _replacement(self.omnigraph, "_cli_failure", recognition.cli_failure)
        yield _replacement(self.omnigraph, "_classify_cli_error", recognition.classify_cli_error)
        yield _replacement(self._http, "classify_status", recognition.classify_status)
        yield _replacement(client, "_retry_loop", self._retry_loop())

    def _helper(self, helper: Helper) -> Callable[[int], float]:
        if helper.base:
            return self.backoffs.helper(helper.base, helper.cap)
        return self.backoffs.conflict

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
                self,
                client,
                label,
                env=env,
                is_write=is_write,
                surface_conflict=surface_conflict,
                deadline=deadline,
            ).run(attempt_once)

        return retry_loop

    def _execute(self) -> Callable[..., str]:
        omnigraph = self.omnigraph

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

            def attempt() -> Command:
                try:
                    result = omnigraph.subprocess.run(cmd, capture_output=True, text=True, env=env)
                except OSError as e:
                    raise RuntimeError(f"omnigraph {label} could not run: {e}") from e
                return Command(result.stdout, result.stderr, result.returncode)

            lock = client._acquire_write_lock(is_write)
            try:
                return Loop(
                    self,
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


def _replacement(owner: Any, name: str, ours: Any) -> Replacement:
    return Replacement(owner, name, vars(owner)[name], ours)


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
        installation = Installation(find(omnigraph, http), omnigraph, http)
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

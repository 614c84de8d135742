"""What a transport for a client takes, and what it makes of that for each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, cast

from .._call.call import Call
from .._evidence.requests import SAFE, current
from .._policy.document import FUNCTIONS, chosen
from .._run import overrides
from .routes import ClientRequest, Routes, chosen_by
from .task import Address, RequestTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._policy.document import Document
    from .._watch.readiness import Readiness
    from ..hooks._hook import Hook


class ClientOptions(TypedDict, total=False):
    """What each transport for a client takes as keywords.

    Attributes:
        policy: Decides; ``"network"`` if there is none.
        max_wait: Another window for it, in seconds.
        spread: How far apart requests start that see their server return, in seconds, as
            ``Policy.with_spread`` has it; else the policy's.
        attempts: How many a request may take, with the first; 1 turns trying again off.
        budget: The total budget of one request, in seconds, with its waits.
        repeatable: Writes that may be applied twice without harm; these are tried again
            as reads are. A PUT that comes late may overwrite what another has written
            meanwhile.
        honours_key: Writes whose server applies those of one Idempotency-Key
            once: they are repeatable if they have that header.
        refuses_before_acting: Requests whose server answers 409, 410, 412, 422, 429 and
            503 before it does anything.
        ready: Where the server's health is asked for while requests wait, so that writes
            too go on as soon as it is good: a path, of each request's own address; a URL, as
            ``outlast.ready.Server`` has it, for requests to its host; or another that sees
            it. Else, and for requests to other hosts, the request's own address is
            watched, which wakes reads. Nobody watches that where a proxy is in the way,
            and nothing at all with ``"off"``.
        label: A name for messages, or what makes one of a request; else its method and
            host.
        observe: Is told of each request's events, besides the hooks.
        secrets: Texts that no hook and no message may show.
        reraise: Raise the client's own exception when the policy stops, which is the
            default: a program's ``except`` goes on to work. :func:`outlast.outcome_of` has
            the outcome. ``False``: a :class:`outlast.CallError`, with that as its cause.
    """

    policy: Document | str
    max_wait: float | None
    spread: float | None
    attempts: int | None
    budget: float | None
    repeatable: Routes
    honours_key: Routes
    refuses_before_acting: Routes
    ready: str | Readiness | None
    label: str | Callable[[ClientRequest], str]
    observe: Hook | None
    secrets: Sequence[str]
    reraise: bool


def taken(options: dict[str, Any]) -> ClientOptions:
    """Those of a transport, taken out of what a client's own are among."""
    own = options.keys() & ClientOptions.__annotations__.keys()
    return cast(ClientOptions, {name: options.pop(name) for name in own})


KEY = "idempotency-key"

MOST_KEPT = 1000
"""How many tasks are kept for requests that are alike (a choice)."""

Origin = tuple[str, str, int]
"""A scheme, a host and a port."""


class Settings:
    """What a transport was told, and the tasks of its requests.

    Args:
        options: The caller's.
        single: Whether the client below is known to make one request, and to try nothing
            again that it has sent.
    """

    def __init__(self, options: ClientOptions, *, single: bool) -> None:
        overrides.check(options, ClientOptions, "outlast.clients.ClientOptions")
        self.reraise = options.get("reraise", True)
        self._single = single
        self._policy = chosen(
            options.get("policy", FUNCTIONS), options.get("max_wait"), options.get("spread")
        )
        self._attempts = options.get("attempts")
        self._budget = options.get("budget")
        self._label = options.get("label", "")
        self._kept: dict[Any, RequestTask] = {}
        self._routes: dict[str, Routes] = {
            "repeatable": options.get("repeatable", False),
            "honours_key": options.get("honours_key", False),
            "refuses_before_acting": options.get("refuses_before_acting", False),
        }
        self._choose()
        self._ready = options.get("ready")
        self._options: dict[str, Any] = {
            name: options[name] for name in ("observe", "secrets") if name in options
        }
        self._new("GET", ("http", "", 80), True, False, False, "")  # tells what is wrong now

    def _choose(self) -> None:
        self._repeatable, self._keyed, self._refuses = (
            chosen_by(routes, word) for word, routes in self._routes.items()
        )

    def __getstate__(self) -> dict[str, Any]:
        """Sessions can be pickled."""
        state = {**vars(self), "_kept": {}}
        for name in ("_repeatable", "_keyed", "_refuses"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._choose()

    def task(
        self,
        method: str,
        url: Callable[[], str],
        headers: Mapping[str, str],
        origin: Origin,
        watched: bool,
        own: Mapping[str, Any] | None = None,
    ) -> RequestTask | None:
        """The task of a request; ``None`` within an attempt of a call of outlast's, which
        tries again by itself.

        Args:
            method: The request's.
            url: Gives its URL.
            headers: Those that it has.
            origin: Where it goes.
            watched: Whether its address says whether the server is back.
            own: What the request itself asks for, as :class:`outlast.CallOptions` has it.
        """
        around = current.get()
        if around is not None and not around.attempt.over:
            return None
        repeatable = refuses = False
        if method not in SAFE and (self._repeatable or self._keyed or self._refuses):
            asked = ClientRequest(method, url(), headers)
            repeatable = _is(self._repeatable, asked) or (
                any(name.lower() == KEY for name in headers) and _is(self._keyed, asked)
            )
            refuses = _is(self._refuses, asked)
        label = self._label
        if callable(label):
            label = label(ClientRequest(method, url(), headers))
        key = (method, origin, watched, repeatable, refuses, label)
        task = self._kept.get(key)
        if task is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            task = self._kept[key] = self._new(*key)
        wanted = overrides.given.get(None)
        if wanted is not None:
            task = task.with_options(wanted)
        if own:
            overrides.check(own)
            task = task.with_options(cast("overrides.CallOptions", own))
        return task

    def _readiness(self, origin: Origin, watched: bool) -> Readiness | None:
        """What watches for a request's server."""
        ready = self._ready
        if ready is not None and not isinstance(ready, str):
            return ready
        if ready == "off":
            return None
        named = None
        if ready is not None and (watched or not ready.startswith("/")):
            named = Address.of(origin, ready)
        return named or (Address.of(origin) if watched else None)

    def _new(
        self,
        method: str,
        origin: Origin,
        watched: bool,
        repeatable: bool,
        refuses: bool,
        label: str,
    ) -> RequestTask:
        call = Call(
            remote=True,
            write=method not in SAFE,
            repeatable=repeatable,
            refuses_before_acting=refuses,
            budget=self._budget,
            label=label,
        )
        if not label:
            call = overrides.labelled(call, f"{method} {origin[1]}")
        ready = self._readiness(origin, watched)
        return RequestTask(
            self._policy,
            call,
            attempts=self._attempts,
            options={**self._options, "ready": ready, "only_request": self._single},  # type: ignore[typeddict-item]
        )


def _is(chosen: Callable[[ClientRequest], bool] | None, request: ClientRequest) -> bool:
    return chosen is not None and bool(chosen(request))

"""What every way to carry out a call takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._call.exceptions import ResultOf
    from .._watch.readiness import Readiness
    from ..hooks._hook import Hook


class RunOptions(TypedDict, total=False):
    """What ``Policy.run``, its siblings, ``run_command`` and ``retry`` take as keywords.

    Attributes:
        seed: Of the jitter, from 0 to 2**53 - 1; ``None``: a random one.
        result_of: Maps further exceptions to results, and is asked first.
        observe: Is told of the call's events, besides the hooks.
        secrets: Texts that no hook and no outcome's message may show.
        only_request: The caller's word that each attempt makes one request that can
            have an effect, and does nothing else that can; so a connection that could
            not be made means that nothing was sent. Where it is not so, a write may be
            applied twice: behind a redirect, or with a client that tries again by itself.
        ready: Sees whether the server is back, for waits that the policy lets
            it cut short, such as ``outlast.ready.Server(url)``; ``None``: they
            are slept through. It watches in real time only: not with a *sleep*
            of the caller's own, nor on the clock of :mod:`outlast.testing`.
    """

    seed: int | None
    result_of: ResultOf | None
    observe: Hook | None
    secrets: Sequence[str]
    only_request: bool
    ready: Readiness | None


OPTIONS = frozenset(RunOptions.__annotations__)
"""Their names."""

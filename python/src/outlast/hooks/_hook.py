"""What a hook is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager

from .._call.call import Call
from ..events import Event


class CallHook:
    """Is told of one call. What its methods raise is logged and goes no further."""

    def __call__(self, event: Event) -> object:
        """Hear of an event of the call."""

    def attempt(self, number: int, at: float) -> AbstractContextManager[object] | None:
        """Hear that an attempt begins.

        Args:
            number: The attempt's, counted from 1.
            at: When, in seconds on the call's clock.

        Returns:
            What the attempt is to run in; ``None``: nothing.
        """

    def end(self, error: BaseException | None) -> None:
        """Hear that nothing more comes.

        Args:
            error: What ended the call; ``None``: the outcome that was told, or the call
                goes on in an event loop, where it is told of as another one.
        """


class PerCallHook(ABC):
    """A hook that tells calls apart: each call gets a hook of its own."""

    @abstractmethod
    def begin(self, call: Call, policy: str, command: str) -> CallHook | None:
        """Begin with a call.

        Args:
            call: What the call is.
            policy: The name of its policy.
            command: Base name of the program that it runs; ``""``: it runs a function.

        Returns:
            What is told of it; ``None``: nobody is.
        """


Hook = Callable[[Event], object] | PerCallHook
"""Is told of events. It must be quick, since the call waits for it. What it raises is
logged and goes no further: no metric may end a call."""

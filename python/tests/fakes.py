"""Plugins that fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from outlast import Plugin


class Failing(Plugin):
    """A plugin whose instances fail when a test wants it.

    Attributes:
        faults: What happens at the next calls of an instance, one after another:
            an exception is raised, bytes are the answer, ``None`` is no fault.
    """

    def __init__(self, *faults: BaseException | bytes | None) -> None:
        super().__init__()
        self._compiled = {}  # of its own, with instances of its own
        self.faults = list(faults)
        self.started = 0

    def new_instance(self) -> Any:
        self.started += 1
        return _Instance(self, super().new_instance())


class _Instance:
    def __init__(self, plugin: Failing, instance: Any) -> None:
        self._plugin = plugin
        self._instance = instance

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        assert self._instance is not None, "an instance was used after it had failed"
        fault = self._plugin.faults.pop(0) if self._plugin.faults else None
        if isinstance(fault, BaseException):
            raise fault
        answer: bytes = fault or self._instance.call(export, data, host)
        return answer

    def close(self) -> None:
        self._instance = None


class MidRun(Failing):
    """A plugin whose instances are lost while they drive a call: each of the
    first *times* ones after *calls* calls of host functions.
    """

    def __init__(self, times: int, calls: int) -> None:
        super().__init__()
        self.times = times
        self.calls = calls

    def new_instance(self) -> Any:
        instance = super().new_instance()
        self.times -= 1
        return _Mortal(instance, self.calls) if self.times >= 0 else instance


class _Mortal:
    def __init__(self, instance: Any, calls: int) -> None:
        self._instance = instance
        self._left = calls

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        lost: list[bool] = []

        class Cut:
            """Answers so many calls; the one after that never reaches the host."""

            left = self._left

            def _answer(self, answer: Callable[..., bytes], *args: Any) -> bytes:
                self.left -= 1
                if self.left < 0:
                    lost.append(True)
                    return b""
                return answer(*args)

            def now(self) -> bytes:
                return self._answer(host.now)

            def sleep(self, action: bytes) -> bytes:
                return self._answer(host.sleep, action)

            def attempt(self, action: bytes) -> bytes:
                return self._answer(host.attempt, action)

            def failed(self, error: BaseException) -> None:
                host.failed(error)

        answer: bytes = self._instance.call(export, data, Cut())
        if lost:
            raise RuntimeError("the instance is lost")
        return answer

    def close(self) -> None:
        self._instance.close()


def envelope(code: str, message: str = "m", field: str = "") -> bytes:
    """An answer with an error."""
    error = {"code": code, "message": message, "field": field}
    return json.dumps({"v": 1, "error": error}).encode()

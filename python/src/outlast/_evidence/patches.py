"""Putting functions in place of others, in modules that may be loaded later, and
taking them away again.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .unseen import not_known

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

Patch = Callable[["Patches", ModuleType], None]
"""Puts functions in place in a module that has been loaded."""

Make = Callable[[Any], Any]
"""Makes the function that goes in place of another."""


class Patches:
    """Functions in place of others.

    Args:
        wanted: What to do with each module.
    """

    def __init__(self, wanted: Mapping[str, Patch]) -> None:
        self._wanted = dict(wanted)
        self._lock = threading.RLock()
        self._left: set[str] = set()  # not loaded so far
        self._undo: list[tuple[Any, str, Any, Any]] = []
        self._finder = _Finder(self)
        self.installed = False

    def install(self) -> None:
        """Put all in place, and what is not loaded yet once it is."""
        with self._lock:
            if self._finder not in sys.meta_path:
                self._left = set(self._wanted)
                sys.meta_path.insert(0, self._finder)
            ready = True
            for name in list(self._left):
                module = sys.modules.get(name)
                if module is None:
                    continue
                if getattr(module.__spec__, "_initializing", False):
                    ready = False  # another thread is loading it: the next call looks again
                else:
                    self.apply(module)
            self.installed = ready

    def apply(self, module: ModuleType) -> None:
        """Put in place what belongs to a module."""
        with self._lock:
            if module.__name__ in self._left:
                self._left.discard(module.__name__)
                try:
                    self._wanted[module.__name__](self, module)
                except Exception:  # a release that has changed, or something else in its place
                    not_known(module.__name__)

    def replace(self, owner: Any, name: str, make: Make) -> None:
        """Put a function in place of another.

        Raises:
            AttributeError: If there is none.
        """
        original, own = getattr(owner, name), vars(owner).get(name)
        new = make(original)
        functools.update_wrapper(new, original)
        setattr(owner, name, new)
        self._undo.append((owner, name, own, new))

    def remove(self) -> None:
        """Take all away again. What somebody else has put on top stays, and does
        nothing more.
        """
        with self._lock:
            self.installed = False
            if self._finder in sys.meta_path:
                sys.meta_path.remove(self._finder)
            while self._undo:
                owner, name, own, new = self._undo.pop()
                if vars(owner).get(name) is not new:
                    continue
                if own is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, own)

    def left(self, name: str) -> bool:
        """Whether a module is to be patched once it is loaded."""
        return name in self._left


class _Finder:
    """Finds modules as ever, and has them patched after they are loaded."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if not self._patches.left(fullname):
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: Any = find(fullname, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self._patches)
                return spec
        return None


class _Loader:
    """Loads a module as its own loader does, and has it patched then."""

    def __init__(self, loader: Any, patches: Patches) -> None:
        self._loader = loader
        self._patches = patches

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        # The module shall know its own loader.
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._patches.apply(module)

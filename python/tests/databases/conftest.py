"""One server of each kind for all tests, which leave it running."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .servers import Server

collect_ignore_glob = [] if find_spec("psycopg") and sys.platform == "linux" else ["*.py"]
"""These have an environment of their own, ``check.sh databases``, and look into /proc."""


@pytest.fixture(scope="session")
def server() -> Iterator[Callable[[str], Server]]:
    """Gives the server of a name, running."""
    from . import made

    kept: dict[str, Server] = {}
    with ExitStack() as stack:

        def of(name: str) -> Server:
            if name not in kept:
                behind = [of("postgres")] if name == "pgbouncer" else []
                kept[name] = getattr(made, name)(*behind)
                stack.callback(kept[name].close)
            if kept[name].process is None:
                kept[name].start()
            return kept[name]

        yield of

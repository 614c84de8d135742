"""What a server of omnigraph's says of itself: away, loading, ready, closing."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from collections.abc import Callable
from typing import Any

from .target import Answer, Level, Target

READY_PATH = "/readyz"
HEALTH_PATH = "/healthz"
"""Where a server tells of itself. The first is there since 0.11; the second is
200 for as long as the process lives, so that it means readiness only where a
server listens no sooner than it can serve: below 0.11."""

MAX_DEPTH = 8
"""How deep an answer may nest. A choice: omnigraph's have none."""

BEFORE_11 = re.compile(r"0\.([0-9]|10)\.[0-9]")
"""How a release below 0.11 begins."""


def life(target: Target, ask: Callable[[str], Answer]) -> Level:
    """Ask anew, for a restart may bring another release. A server that is only
    seen to accept does not count: 0.12 and later listen before they can serve.
    """
    for root in roots(target.path):
        for path, says in ((READY_PATH, _loads), (HEALTH_PATH, _listens_when_ready)):
            level = _see(root + path, ask, says)
            if level is not None:
                return level
    return Level.ACCEPTING  # what answers has no such paths


def roots(path: str) -> list[str]:
    """Where the server's own paths may begin. A URL that names a graph is one of
    those that releases up to 0.11 were given; a proxy may have a path that looks
    like that, so the URL as it is comes first.
    """
    before, graphs, graph = path.rpartition("/graphs/")
    return [path, before] if graphs and "/" not in graph else [path]


def _see(
    path: str, ask: Callable[[str], Answer], says: Callable[[Answer], Level | None]
) -> Level | None:
    try:
        answer = ask(path)
    except TimeoutError:
        return Level.UNREADY  # it accepts, and does not answer
    except (ConnectionError, ssl.SSLEOFError):
        return Level.UNANSWERED
    except (OSError, ValueError, http.client.HTTPException):
        return Level.ACCEPTING
    if answer.status == 404:
        return None
    level = says(answer)
    if level is not None:
        return level
    return Level.UNREADY if answer.status >= 500 else Level.ACCEPTING


def _loads(answer: Answer) -> Level | None:
    """Of what /readyz tells with 503 only loading passes by itself; blocked and
    draining need somebody, whom an attempt's error tells.
    """
    if answer.status == 200:
        return Level.HEALTHY
    if answer.status == 503 and _member(answer.body, "status") == "loading":
        return Level.LOADING
    return None


def _listens_when_ready(answer: Answer) -> Level | None:
    if answer.status == 200 and BEFORE_11.match(_member(answer.body, "version")):
        return Level.HEALTHY
    return None


def _member(body: bytes | None, name: str) -> str:
    """A text of the one JSON object that a body is; "" if it is anything else."""
    try:
        value = json.loads((body or b"").decode(), object_pairs_hook=_once, parse_constant=_refuse)
        _shallow(value, MAX_DEPTH)
    except (ValueError, RecursionError):
        return ""
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, str) else ""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name twice")
    return members


def _refuse(word: str) -> None:
    raise ValueError(word)


def _shallow(value: Any, depth: int) -> None:
    items = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    if items is None:
        return
    if depth == 0:
        raise ValueError("too deep")
    for item in items:
        _shallow(item, depth - 1)

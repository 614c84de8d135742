"""Which requests a caller's word is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class ClientRequest:
    """A request that a client is about to make.

    Attributes:
        method: In capitals.
        url: The whole URL.
        headers: Its headers, of any case.
    """

    method: str
    url: str
    headers: Mapping[str, str]


Routes = bool | str | Iterable[str] | Callable[[ClientRequest], bool]
"""All requests, or none; those of routes, such as ``"PUT /items/*"``; or those of which a
function says so. ``*`` stands for anything but ``/``, and ``**`` for anything; a route that
begins with a scheme is of that server only, and one that begins with ``/`` of any."""

Chosen = Callable[[ClientRequest], bool]


def chosen_by(routes: Routes, what: str) -> Chosen | None:
    """Whether a request is meant; ``None``: none is.

    Raises:
        ValueError: If a route is not in its form.
    """
    if isinstance(routes, bool):
        return _each if routes else None
    if callable(routes):
        return routes
    patterns = [_pattern(each, what) for each in ([routes] if isinstance(routes, str) else routes)]

    def chosen(request: ClientRequest) -> bool:
        url = urlsplit(request.url)
        own = f"{request.method} {url.path or '/'}"
        whole = f"{request.method} {url.scheme}://{url.netloc}{url.path or '/'}"
        return any(p.fullmatch(own) or p.fullmatch(whole) for p in patterns)

    return chosen if patterns else None


def _each(_: ClientRequest) -> bool:
    return True


_ROUTE = re.compile(r"[A-Z]+ (/|https?://)\S*")


def _pattern(route: str, what: str) -> re.Pattern[str]:
    if not _ROUTE.fullmatch(route):
        raise ValueError(
            f"outlast: {what} has the route {route!r}; expected a method and a path, such as "
            '"PUT /items/*" or "PUT https://api.example/items/*"'
        )
    parts = (re.escape(part).replace(r"\*", "[^/]*") for part in route.split("**"))
    return re.compile(".*".join(parts))

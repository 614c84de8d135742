"""What to look at, and what a look may see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import SplitResult, urlsplit


class Level(IntEnum):
    """What a look saw of a server, in the order of readiness."""

    UNANSWERED = 0
    """No answer in time, or a failure that says nothing."""
    DOWN = 1
    """Refused, no way to it, or no such name."""
    LOADING = 2
    """It says that it is not ready yet, and will be by itself."""
    UNREADY = 3
    """Of omnigraph: no answer, or one that is no sign of readiness."""
    ACCEPTING = 4
    """It accepted a connection, and did not say that it is not ready."""
    HEALTHY = 5
    """It answered its health check as expected."""


@dataclass(frozen=True)
class Target:
    """What is looked at: a port, an HTTP health check, or a server of omnigraph's.

    Attributes:
        scheme: ``"tcp"``, ``"http"`` or ``"https"``.
        host: A name or an address.
        port: The port.
        path: Of HTTP, with a query if it has one; of omnigraph, what stands
            before its own paths.
        statuses: Of HTTP, that say ready; none: 200 to 299.
        omnigraph: A server of omnigraph's, which says itself what it is doing.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    statuses: tuple[int, ...] = ()
    omnigraph: bool = False

    @property
    def best(self) -> Level:
        """The most that a look can see."""
        return Level.ACCEPTING if self.scheme == "tcp" else Level.HEALTHY

    def port_only(self) -> Target:
        """The same server, of which nothing is asked."""
        return Target("tcp", self.host, self.port)

    def denies(self, status: int) -> bool:
        """Whether a status says that the health check is not there, or not for
        outlast. Of omnigraph's servers a 404 is a proxy's whose route is away, since
        a command that asks at a wrong path does not wait.
        """
        return status in (401, 403) or (status == 404 and not self.omnigraph)

    @property
    def key(self) -> str:
        """The target as docs/looking.md has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        text = f"{self.scheme}://{host}:{self.port}{self.path}"
        if self.omnigraph:
            text = f"omnigraph {text}/readyz"
        return text + "".join("#,"[i > 0] + str(n) for i, n in enumerate(self.statuses))

    def expects(self, status: int) -> bool:
        """Whether a status says ready."""
        return status in self.statuses if self.statuses else 200 <= status <= 299

    def says(self, status: int) -> Level:
        """What a health check's answer says of the server."""
        if self.expects(status):
            return Level.HEALTHY
        return Level.LOADING if status == 503 else Level.ACCEPTING


FORMS = "tcp://host:port or http(s)://host[:port][/path][#status,...]"

SERVER_FORMS = "http(s)://host[:port][/path]"


DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_omnigraph(text: str) -> Target:
    """Read the URL of a server of omnigraph's. Its path is kept, for a proxy's
    prefix; a user name, a query and a fragment are not.

    Raises:
        ValueError: If *text* is not such a URL.
    """
    url, host, port = _split(text, ("http", "https"), SERVER_FORMS)
    port = port or DEFAULT_PORTS[url.scheme]
    return Target(url.scheme, host, port, url.path.rstrip("/"), omnigraph=True)


def parse(text: str) -> Target:
    """Read a target. Without a path /healthz is asked for.

    Raises:
        ValueError: If *text* is not a target.
    """
    url, host, port = _split(text, ("tcp", "http", "https"), FORMS)
    if "@" in url.netloc:
        raise _bad(text, "has a user name: a look at the server sends none")
    if url.scheme == "tcp":
        if port is None:
            raise _bad(text, "has no port")
        if url.path.strip("/") or url.query or url.fragment:
            raise _bad(text, "has more than a host and a port")
        return Target("tcp", host, port)
    path = url.path or "/"
    if url.query:
        path += "?" + url.query
    if path == "/":
        path = "/healthz"
    port = port or DEFAULT_PORTS[url.scheme]
    return Target(url.scheme, host, port, path, _statuses(text, url.fragment))


def _split(text: str, schemes: tuple[str, ...], forms: str) -> tuple[SplitResult, str, int | None]:
    """A URL with its host and its port."""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _bad(text, "is not a URL", forms) from None
    if url.scheme not in schemes:
        raise _bad(text, f"has none of the schemes {', '.join(schemes)}", forms)
    if not url.hostname or any(c.isspace() for c in url.netloc):
        raise _bad(text, "has no host", forms)
    if port == 0:
        raise _bad(text, "has the port 0, which is not from 1 to 65535", forms)
    return url, url.hostname, port


def _statuses(text: str, words: str) -> tuple[int, ...]:
    statuses = []
    for word in words.split(",") if words else ():
        if not word.strip().isdecimal() or not 200 <= int(word) <= 599:
            # A long one may be a piece of a secret that has a # in it.
            told = f"the status {word!r}, which" if len(word) <= 3 else "a status behind the # that"
            raise _bad(text, f"has {told} is not from 200 to 599")
        statuses.append(int(word))
    return tuple(statuses)


def _bad(text: str, why: str, forms: str = FORMS) -> ValueError:
    return ValueError(f"outlast: {shown(text)!r} {why}; expected {forms}")


def shown(text: str) -> str:
    """A target without what may be a secret in it: a user name and password, a
    query. An @ behind a ? may end either.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    rest, query, hidden = rest.partition("?")
    if "@" in hidden or "@" in scheme or "?" in scheme:
        return "…"
    _, at, end = rest.rpartition("@")
    rest = ("…@" + end if at else end) + ("?…" if query else "")
    return scheme + mark + rest


@dataclass(frozen=True)
class Answer:
    """What a request came to.

    Attributes:
        status: The status.
        body: ``None`` where it is too long or did not come whole in time; only
            omnigraph's are read.
    """

    status: int
    body: bytes | None = None

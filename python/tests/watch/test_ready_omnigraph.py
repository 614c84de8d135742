"""Watching a server of omnigraph's through its life, on real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from outlast import ready
from outlast._watch import life
from outlast._watch import look as looking
from outlast._watch.readiness import Seen
from outlast._watch.target import Level, Target, parse_omnigraph, shown
from outlast.ready import Omnigraph

from .test_ready import eventually, free_port

Answers = dict[str, tuple[int, str]]


def readyz(status: str) -> str:
    good = status in ("serving", "degraded")
    return json.dumps({"ready": good, "status": status, "state_revision": 42, "state_cas": None})


def healthz(version: str) -> str:
    return json.dumps({"status": "ok", "version": version, "internal_schema_version": 9})


class Told(ThreadingHTTPServer):
    """A server with these answers; the rest is 404."""

    daemon_threads = True

    def __init__(self, port: int, answers: Answers) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, dict(self.headers)))
                status, body = server.answers.get(self.path, (404, '{"error":"not found"}'))
                self.send_response(status)
                self.send_header("Location", "/healthz")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body.encode("latin-1"))

            def log_message(self, *_: Any) -> None:
                pass

        self.answers = answers
        self.asked: list[tuple[str, dict[str, str]]] = []
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def __exit__(self, *args: Any) -> None:
        self.shutdown()
        super().__exit__(*args)


BLANKS = " " * looking.MAX_BODY

LIFE: dict[str, tuple[Answers, Level]] = {
    "0.13 serving": ({"/readyz": (200, readyz("serving"))}, Level.HEALTHY),
    "0.13 degraded": ({"/readyz": (200, readyz("degraded"))}, Level.HEALTHY),
    "0.13 loading": (
        {"/readyz": (503, readyz("loading")), "/healthz": (200, healthz("0.13.0"))},
        Level.LOADING,
    ),
    "0.13 blocked": ({"/readyz": (503, readyz("blocked"))}, Level.UNREADY),
    "0.13 draining": ({"/readyz": (503, readyz("draining"))}, Level.UNREADY),
    "0.10": ({"/healthz": (200, healthz("0.10.2"))}, Level.HEALTHY),
    "0.4": ({"/healthz": (200, healthz("0.4.0"))}, Level.HEALTHY),
    "0.12, no route": ({"/healthz": (200, healthz("0.12.0"))}, Level.ACCEPTING),
    "an ingress without a route": ({}, Level.ACCEPTING),
    "no version": ({"/healthz": (200, '{"status":"ok"}')}, Level.ACCEPTING),
    "words": ({"/healthz": (200, "ok")}, Level.ACCEPTING),
    "a number": ({"/healthz": (200, '{"version":0.10}')}, Level.ACCEPTING),
    "a sick 0.10": ({"/healthz": (503, healthz("0.10.2"))}, Level.UNREADY),
    "no backend": ({"/readyz": (502, "bad gateway")}, Level.UNREADY),
    "a fault": ({"/readyz": (500, readyz("loading"))}, Level.UNREADY),
    "a redirect": (
        {"/readyz": (302, ""), "/healthz": (200, healthz("0.10.0"))},
        Level.ACCEPTING,
    ),
    "no right": ({"/readyz": (401, ""), "/healthz": (200, healthz("0.10.0"))}, Level.ACCEPTING),
    "another status": ({"/readyz": (429, readyz("loading"))}, Level.ACCEPTING),
    "garbage": ({"/readyz": (503, "\x00\xff{{")}, Level.UNREADY),
    "nothing": ({"/readyz": (503, "")}, Level.UNREADY),
    "a text": ({"/readyz": (503, '"loading"')}, Level.UNREADY),
    "a list": ({"/readyz": (503, '["status","loading"]')}, Level.UNREADY),
    "elsewhere": ({"/readyz": (503, '{"a":{"status":"loading"}}')}, Level.UNREADY),
    "twice": ({"/readyz": (503, '{"status":"loading","status":"loading"}')}, Level.UNREADY),
    "another case": ({"/readyz": (503, '{"Status":"loading"}')}, Level.UNREADY),
    "more": ({"/readyz": (503, readyz("loading") + "{}")}, Level.UNREADY),
    "not a text": ({"/readyz": (503, '{"status":["loading"]}')}, Level.UNREADY),
    "no number": ({"/readyz": (503, '{"status":"loading","a":NaN}')}, Level.UNREADY),
    "cut": ({"/readyz": (503, '{"status":"loading"')}, Level.UNREADY),
    "deep": (
        {"/readyz": (503, '{"status":"loading","a":' + "[" * 9 + "]" * 9 + "}")},
        Level.UNREADY,
    ),
    "deeper": (
        {"/readyz": (503, '{"status":"loading","a":' + "[" * 30000 + "]" * 30000 + "}")},
        Level.UNREADY,
    ),
    "huge": ({"/readyz": (503, readyz("loading") + BLANKS)}, Level.UNREADY),
    "as large as is read": (
        {"/readyz": (503, (readyz("loading") + BLANKS)[: looking.MAX_BODY])},
        Level.LOADING,
    ),
    "huge and ready": ({"/readyz": (200, readyz("serving") + BLANKS)}, Level.HEALTHY),
    "escaped": ({"/readyz": (503, ' {"new":[{}],"status" : "lo\\u0061ding"}\r\n')}, Level.LOADING),
}


@pytest.mark.parametrize("name", LIFE)
def test_the_life_of_a_server(name: str) -> None:
    answers, want = LIFE[name]
    port = free_port()
    with Told(port, answers) as server:
        assert looking.look(parse_omnigraph(f"http://127.0.0.1:{port}")) == want
    for _, headers in server.asked:
        assert headers["User-Agent"] == "outlast"
        assert not {"Authorization", "Cookie"} & headers.keys()


def test_refused() -> None:
    assert looking.look(parse_omnigraph(f"http://127.0.0.1:{free_port()}")) == Level.DOWN


@pytest.mark.parametrize(
    ("version", "before"),
    [
        *((v, True) for v in ("0.4.0", "0.9.12", "0.10.0", "0.10.2-dev")),
        *(
            (v, False)
            for v in (
                "",
                "0.10",
                "0.11.0",
                "0.13.0",
                "1.0.0",
                "v0.10.0",
                "0.010.0",
                "0.10.x",
                "0.100.0",
            )
        ),
    ],
)
def test_releases(version: str, before: bool) -> None:
    assert bool(life.BEFORE_11.match(version)) == before


@pytest.mark.parametrize(
    ("path", "answers", "want", "asked"),
    [
        ("", {"/readyz": (200, "")}, Level.HEALTHY, ["/readyz"]),
        ("/og/", {"/og/readyz": (200, "")}, Level.HEALTHY, ["/og/readyz"]),
        ("/og", {"/readyz": (200, "")}, Level.ACCEPTING, ["/og/readyz", "/og/healthz"]),
        (
            "/og/graphs/kb",
            {"/og/healthz": (200, healthz("0.10.0"))},
            Level.HEALTHY,
            ["/og/graphs/kb/readyz", "/og/graphs/kb/healthz", "/og/readyz", "/og/healthz"],
        ),
        ("/graphs/kb", {"/graphs/kb/readyz": (200, "")}, Level.HEALTHY, ["/graphs/kb/readyz"]),
    ],
)
def test_where_a_server_is_asked(
    path: str, answers: Answers, want: Level, asked: list[str]
) -> None:
    port = free_port()
    with Told(port, answers) as server:
        target = parse_omnigraph(f"http://me:secret@127.0.0.1:{port}{path}?a=b#c")
        assert looking.look(target) == want
        assert [where for where, _ in server.asked] == asked


@pytest.mark.parametrize(
    ("path", "roots"),
    [
        ("", [""]),
        ("/graphs", ["/graphs"]),
        ("/graphs/kb", ["/graphs/kb", ""]),
        ("/og/graphs/kb", ["/og/graphs/kb", "/og"]),
        ("/graphs/kb/og", ["/graphs/kb/og"]),
        ("/graphs/graphs/kb", ["/graphs/graphs/kb", "/graphs"]),
    ],
)
def test_roots(path: str, roots: list[str]) -> None:
    assert life.roots(path) == roots


@contextlib.contextmanager
def raw(answer: Callable[[socket.socket], None]) -> Iterator[Target]:
    """A server that answers each connection so."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def one(conn: socket.socket) -> None:
            with conn, contextlib.suppress(OSError):
                conn.recv(4096)
                answer(conn)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    conn, _ = listener.accept()
                    threading.Thread(target=one, args=(conn,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield parse_omnigraph(f"http://127.0.0.1:{listener.getsockname()[1]}")
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


BODY = readyz("loading").encode()


def head(more: str) -> bytes:
    return f"HTTP/1.1 503 Service Unavailable\r\n{more}\r\n\r\n".encode()


def slowly(conn: socket.socket, text: bytes, pause: float) -> None:
    for byte in text:
        conn.sendall(bytes([byte]))
        time.sleep(pause)


def for_ever(conn: socket.socket) -> None:
    conn.sendall(head("Connection: close"))
    while True:
        conn.sendall(b"x" * 65536)


ODD: dict[str, tuple[Callable[[socket.socket], None], Level]] = {
    "chunked": (
        lambda conn: conn.sendall(
            head("Transfer-Encoding: chunked")
            + b"".join(b"1\r\n%c\r\n" % byte for byte in BODY)
            + b"0\r\n\r\n"
        ),
        Level.LOADING,
    ),
    "chunks without an end": (
        lambda conn: conn.sendall(
            head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(BODY), BODY)
        ),
        Level.UNREADY,
    ),
    "until it closes": (lambda conn: conn.sendall(head("Connection: close") + BODY), Level.LOADING),
    "cut short": (
        lambda conn: conn.sendall(head(f"Content-Length: {len(BODY) + 1}") + BODY),
        Level.UNREADY,
    ),
    "slow": (lambda conn: slowly(conn, head("Connection: close") + BODY, 0.001), Level.LOADING),
    "too slow": (lambda conn: slowly(conn, head("Connection: close") + BODY, 0.02), Level.UNREADY),
    "slow from the start": (
        lambda conn: slowly(conn, head("X: " + "y" * 500), 0.02),
        Level.UNREADY,
    ),
    "for ever": (for_ever, Level.UNREADY),
    "no answer": (lambda _: time.sleep(2 * looking.TIMEOUT), Level.UNREADY),
    "closed": (lambda _: None, Level.UNANSWERED),
    "another protocol": (lambda conn: conn.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"), Level.ACCEPTING),
    "compressed": (
        lambda conn: conn.sendall(head("Content-Encoding: gzip") + b"\x1f\x8b\x08\x00"),
        Level.UNREADY,
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_answers(name: str) -> None:
    answer, want = ODD[name]
    with raw(answer) as target:
        began = time.monotonic()
        assert looking.look(target) == want
        assert time.monotonic() - began < looking.TIMEOUT + 5


def test_https_to_a_port_of_http() -> None:
    port = free_port()
    with Told(port, {"/readyz": (200, "")}) as server:
        look = looking.look(parse_omnigraph(f"https://127.0.0.1:{port}"))
        assert look not in (Level.HEALTHY, Level.LOADING)
        assert server.asked == []


def test_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    target = parse_omnigraph("http://graph")
    for levels, want in (
        ([Level.DOWN, Level.LOADING], Level.LOADING),
        ([Level.UNANSWERED, Level.LOADING], Level.UNANSWERED),
        ([Level.UNREADY, Level.LOADING, Level.UNANSWERED], Level.UNREADY),
        ([Level.ACCEPTING, Level.LOADING], Level.ACCEPTING),
        ([Level.LOADING, Level.HEALTHY], Level.HEALTHY),
        ([Level.DOWN, Level.DOWN], Level.DOWN),
    ):
        monkeypatch.setattr(looking, "_resolve", lambda _, found=levels: found)
        monkeypatch.setattr(looking, "_at", lambda _, level, *rest: level)
        assert looking.look(target) == want


def test_a_watch_of_a_life() -> None:
    port = free_port()
    news: list[Seen] = []
    watch = Omnigraph(f"http://127.0.0.1:{port}").watch(True, lambda: news.append(watch.seen()))
    try:
        eventually(lambda: watch.seen() == Seen(down=True))
        loading: Answers = {
            "/readyz": (503, readyz("loading")),
            "/healthz": (200, healthz("0.13.0")),
        }
        with Told(port, loading) as server:

            def looks(count: int) -> None:
                before = len(server.asked)
                eventually(lambda: len(server.asked) > before + count)

            eventually(lambda: watch.seen() == Seen(not_ready=True))
            looks(4)
            for status in ("blocked", "draining"):
                server.answers = {"/readyz": (503, readyz(status))}
                eventually(lambda: watch.seen() == Seen())
                looks(3)
                assert watch.seen() == Seen()
            assert news == []
            server.answers = {"/readyz": (200, readyz("serving"))}
            eventually(lambda: watch.seen() == Seen("ready"))
            assert news
    finally:
        watch.stop()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "graph:8080",
        "tcp://graph:1",
        "http://",
        "http://graph:0",
        "http://me:secret@graph:x",
        "ftp://me:secret@graph?q=secret",
    ],
)
def test_what_is_no_server(url: str) -> None:
    with pytest.raises(ValueError, match="expected http") as raised:
        Omnigraph(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "udp://graph/?key=secret",
        "http://graph/?key=a#secret",
        "http://me:1#secret@graph",
        "tcp://graph:1/?secret",
        "http://me:secret@graph?secret",
        "http://graph:x/?secret",
    ],
)
def test_a_secret_is_not_shown(text: str) -> None:
    with pytest.raises(ValueError, match="outlast: ") as raised:
        ready.Server(text)
    told = str(raised.value)
    assert not any(mark + "secret" in told for mark in "=#?:'")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("graph:8080", "graph:8080"),
        ("http://graph:8080/x#200", "http://graph:8080/x#200"),
        ("http://me:se@cret@graph/x", "http://…@graph/x"),
        ("me:secret@graph", "…@graph"),
        ("http://graph?key=secret", "http://graph?…"),
        ("http://me:secret@graph/?secret", "http://…@graph/?…"),
        ("http://me:sec?ret@graph", "…"),
        ("http://graph/?a=me@secret", "…"),
        ("me:sec?http://ret@graph", "…"),
    ],
)
def test_what_is_shown(text: str, want: str) -> None:
    assert shown(text) == want


def test_it_is_shown_without_its_path() -> None:
    assert repr(Omnigraph("https://me:secret@graph/og")) == "Omnigraph(https://graph:443)"
    assert Omnigraph("http://graph")._target != ready.Server("http://graph/")._target

"""Each client through a restart of its server: how a call ends, and what was applied.
The page has the table.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from contextvars import Context
from threading import Thread
from typing import Any

import psycopg
import pytest

import outlast
from evidence.servers import closed_port, quick
from outlast import Policy, testing

from .clients import CLIENTS, Client, Grpc, RedisTries
from .made import dsn
from .page import PAGE, compared
from .servers import Server

Servers = Callable[[str], Server]
Trial = Callable[[Client, Server], str]

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients


def ends(client: Client, back: Callable[[], None], write: bool = True, **claims: Any) -> str:
    """How a call ends; the server is back before the third attempt."""
    attempts: list[None] = []

    def call() -> object:
        attempts.append(None)
        if len(attempts) == 3:
            Context().run(back)  # which is nothing of the attempt's
        return client.write() if write else client.read()

    retried = outlast.retry(remote=True, write=write, policy=Policy(quick("60s")), **claims)(call)
    # A channel of gRPC's waits by itself before it connects again, in real time.
    with nullcontext() if isinstance(client, Grpc) else testing.virtual_time():
        try:
            client.whole(retried)
        except outlast.CallError as e:
            assert len(attempts) == 1
            return e.outcome.type
    return "rode out" if len(attempts) > 2 else "ok"


def away(client: Client, server: Server, write: bool = True, **claims: Any) -> str:
    """A call while the server is away, with nothing kept from before."""
    server.stop()
    return ends(client, server.start, write, **claims)


def midway(client: Client, server: Server, **claims: Any) -> str:
    """A write that has arrived when the server dies; that only this one was made is claimed."""
    client.whole(client.read)  # so that there is a connection
    server.freeze()

    def dies() -> None:
        try:
            server.asked()
        finally:
            server.kill()

    killer = Thread(target=dies)
    killer.start()
    try:
        return ends(client, server.start, only_request=True, **claims)
    finally:
        killer.join()


def counted(name: str, server: Server) -> int:
    with closing(CLIENTS[name][1](server.port)) as client:
        count: int = client.whole(client.read)
        return count


def applied(name: str, servers: Servers, trial: Trial) -> tuple[str, int]:
    """What a trial ends as, and how many writes it has applied."""
    needs, kind = CLIENTS[name]
    server = servers(needs)
    before = counted(name, server)
    with closing(kind(server.port)) as client:
        ended = trial(client, server)
    # What moto has in memory goes with it.
    return ended, counted(name, servers(needs)) - (0 if needs == "moto" else before)


def row(name: str, servers: Servers) -> str:
    read, none = applied(name, servers, lambda c, s: away(c, s, write=False))
    assert none == 0
    trials: list[Trial] = [away, lambda c, s: away(c, s, only_request=True), midway]
    writes = [applied(name, servers, trial) for trial in trials]
    assert writes[-1] == ("indeterminate", 0)
    for ended, count in writes:
        assert count == (1 if ended == "rode out" else 0)
    cells = [name, read, *(ended for ended, _ in writes)]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", CLIENTS)
def test_a_restart(name: str, server: Servers) -> None:
    compared("restarts", row(name, server))


def test_the_page_s_example(server: Servers) -> None:
    where = dsn(server("postgres").port)
    code = PAGE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    told = "host=db dbname=shop"
    assert told in code
    names: dict[str, Any] = {}
    exec(code.replace(told, where), names)
    with psycopg.connect(where) as connection:
        connection.execute("create table invoices (id int, paid bool)")
        connection.execute("insert into invoices values (7, false)")
    names["pay"](7)
    with psycopg.connect(where) as connection:
        assert connection.execute("select paid from invoices").fetchone() == (True,)
        connection.execute("drop table invoices")


ALONE = """
import sys
import botocore.config, botocore.session
import outlast, outlast.testing

session = botocore.session.Session()
session.set_credentials("none", "none")
config = botocore.config.Config(retries={"total_max_attempts": 2}, proxies={})
clients = [
    session.create_client("kms", "us-east-1", endpoint_url=url, config=config)
    for url in sys.argv[1:]
]

@outlast.retry(remote=True, write=True)
def write():
    clients.pop(0).create_key()

with outlast.testing.virtual_time():
    write()
"""


def test_botocore_alone_needs_no_claim(server: Servers) -> None:
    moto = server("moto")
    before = counted("botocore", moto)
    urls = [f"http://127.0.0.1:{port}" for port in (closed_port(), closed_port(), moto.port)]
    subprocess.run([sys.executable, "-c", ALONE, *urls], check=True)
    assert counted("botocore", moto) == before + 1


def test_redis_that_tried_before_has_proved_nothing(server: Servers) -> None:
    redis = server("redis_server")
    with closing(RedisTries(redis.port)) as client:
        assert midway(client, redis) == "indeterminate"


def test_grpc_where_unavailable_means_that_nothing_was_done(server: Servers) -> None:
    def claimed(client: Client, server: Server) -> str:
        return away(client, server, only_request=True, refuses_before_acting=True)

    def broken(client: Client, server: Server) -> str:
        return midway(client, server, refuses_before_acting=True)

    assert applied("grpcio", server, claimed) == ("rode out", 1)
    assert applied("grpcio", server, broken) == ("indeterminate", 0)


def test_what_a_server_of_grpc_heard_of_another_proves_nothing(server: Servers) -> None:
    class Relayed(Grpc):
        def write(self) -> object:
            return self.ask("relay", b"failed to connect to all addresses; last error: refused")

    def relayed(client: Client, server: Server) -> str:
        with closing(Relayed(server.port)) as relay:
            return ends(relay, server.start, only_request=True)

    assert applied("grpcio", server, relayed) == ("indeterminate", 1)

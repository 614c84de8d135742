"""What each client raises where a server refuses, is away or breaks, and which result
that stands for. The page has the table.
"""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from signal import SIGTERM
from threading import Thread
from typing import Any

import psycopg
import pymysql
import pytest
import redis
import sqlalchemy
import sqlalchemy.exc

import outlast
from evidence.servers import closed_port
from outlast import Result
from outlast._call.drivers import CLIENTS as DRIVERS

from .clients import CLIENTS, ONCE, Alchemy, Client, RedisTries
from .made import SLOTS, dsn
from .page import compared
from .servers import FERRETDB, Server, debian, environment

Servers = Callable[[str], Server]
At = tuple[int, str]
"""A port and a host to ask at."""

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients


def word(result: Result | None) -> str:
    """A result as the page has it."""
    if result is None:
        return "not known"
    assert result.sent == "unknown"  # which no exception can know
    return result.failure or (str(result.http_status) if result.http_status else "timed out")


def raised(client: Client, ask: Callable[[], Any] | None = None) -> Exception:
    with pytest.raises(Exception) as caught:
        client.whole(ask or client.read)
    return caught.value


@contextmanager
def refused(servers: Servers) -> Iterator[At]:
    yield closed_port(), "127.0.0.1"


@contextmanager
def nameless(servers: Servers) -> Iterator[At]:
    yield closed_port(), "nosuch.invalid"


@contextmanager
def hangs_up(servers: Servers) -> Iterator[At]:
    """Who listens is away, and its connections wait, and are reset."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)

        def accepts() -> None:
            with suppress(OSError):
                while True:
                    listener.accept()[0].close()

        thread = Thread(target=accepts)
        thread.start()
        yield listener.getsockname()[1], "127.0.0.1"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def starting(servers: Servers) -> Iterator[At]:
    """A PostgreSQL server whose recovery waits for a log that does not come."""
    server = servers("postgres")
    server.stop()
    recovery = server.data / "d" / "recovery.signal"
    recovery.touch()
    server.own(recovery)
    server.start("-c", "restore_command=sleep 600; false", wait=False)
    yield server.port, "127.0.0.1"
    server.kill()
    recovery.unlink()


@contextmanager
def stopping(servers: Servers) -> Iterator[At]:
    """A PostgreSQL server that waits for its last session to end."""
    server = servers("postgres")
    with psycopg.connect(dsn(server.port)):
        server.send(SIGTERM)

        def refuses() -> None:
            try:
                psycopg.connect(dsn(server.port)).close()
            except psycopg.OperationalError:
                return
            raise AssertionError("it still takes connections")

        server.until(refuses)
        yield server.port, "127.0.0.1"
    server.stop()


@contextmanager
def full(servers: Servers, name: str, port: Callable[[Server], Any], most: int) -> Iterator[At]:
    """A server whose connections are all taken."""
    server = servers(name)
    with ExitStack() as stack:
        taken = 0
        while taken < most + 2:
            try:
                stack.enter_context(closing(port(server)))
            except Exception:
                break
            taken += 1
        assert taken <= most
        yield server.port, "127.0.0.1"


def session(server: Server) -> Any:
    return psycopg.connect(dsn(server.port))


def redis_session(server: Server) -> Any:
    client = redis.Redis(port=server.port, retry=ONCE, single_connection_client=True)
    client.ping()
    return client


def mysql_session(server: Server) -> Any:
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root")


@contextmanager
def bouncing(servers: Servers) -> Iterator[At]:
    """PgBouncer, whose server is away."""
    bouncer = servers("pgbouncer")
    servers("postgres").stop()
    yield bouncer.port, "127.0.0.1"
    servers("postgres")


SLOWLY = ("--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024")
"""How a Redis server reads its data: 2 ms for each key."""


@contextmanager
def loading(servers: Servers) -> Iterator[At]:
    """A Redis server that reads its data slowly."""
    server = servers("redis_server")
    with redis.Redis(port=server.port) as client:
        client.execute_command("debug", "populate", "20000")
        client.execute_command("bgrewriteaof")
        while client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.02)
    server.stop()
    server.start(*SLOWLY, wait=False)
    yield server.port, "127.0.0.1"
    server.kill()
    server.start()
    with redis.Redis(port=server.port) as client:
        client.flushall()
    server.stop()


@contextmanager
def masterless(servers: Servers) -> Iterator[At]:
    """A Redis replica whose master is away, and that is told to say so."""
    server = servers("redis_server")
    with redis.Redis(port=server.port) as client:
        client.config_set("replica-serve-stale-data", "no")
        client.execute_command("replicaof", "127.0.0.1", str(closed_port()))
        yield server.port, "127.0.0.1"
        client.execute_command("replicaof", "no", "one")


STATES: list[tuple[str, str, Callable[[Servers], Any]]] = [
    ("", "refused", refused),
    ("", "no such name", nameless),
    ("", "accepted, and closed at once", hangs_up),
    ("postgres", "starting up", starting),
    ("postgres", "shutting down", stopping),
    ("postgres", "too many clients", lambda s: full(s, "postgres", session, SLOTS)),
    ("postgres", "pgbouncer: its server is away", bouncing),
    ("postgres", "pgbouncer: too many clients", lambda s: full(s, "pgbouncer", session, SLOTS)),
    ("redis_server", "loading", loading),
    ("redis_server", "the link to the master is down", masterless),
    ("redis_server", "too many clients", lambda s: full(s, "redis_server", redis_session, 8)),
    ("mariadb", "too many clients", lambda s: full(s, "mariadb", mysql_session, 2 * SLOTS + 1)),
]
NAMES = {"": "any", "postgres": "PostgreSQL", "redis_server": "Redis", "mariadb": "MariaDB"}


@pytest.mark.parametrize(("needs", "what", "state"), STATES)
def test_a_state(needs: str, what: str, state: Callable[[Servers], Any], server: Servers) -> None:
    found: dict[str, list[str]] = {}
    with state(server) as (port, host):
        for name, (its, kind) in CLIENTS.items():
            if its == needs or not needs:
                with closing(kind(port, host)) as client:
                    error = raised(client)
                print(name, type(error), str(error)[:200])
                found.setdefault(word(outlast.result_of(error)), []).append(name)
    cells = [f"{each}: {', '.join(names)}" for each, names in found.items()]
    said = " · ".join(cells if len(found) > 1 else found)
    compared("states", f"| {NAMES[needs]} | {what} | {said} |")


def said_of(client: Client, ask: Callable[[], Any]) -> str:
    return word(outlast.result_of(raised(client, ask)))


@pytest.mark.parametrize("name", ["psycopg", "asyncpg"])
def test_what_postgres_says_within_a_session(name: str, server: Servers) -> None:
    with closing(CLIENTS[name][1](server("postgres").port)) as kept:
        client: Any = kept
        imitates = "DO $$BEGIN RAISE 'x' USING ERRCODE = '57P03'; END$$"
        assert said_of(client, lambda: client.ask(imitates)) == "not known"
        assert said_of(client, lambda: client.ask("select 1/0")) == "not known"
        ends = "select pg_terminate_backend(pg_backend_pid())"
        assert said_of(client, lambda: client.ask(ends)) == "broke"


def test_what_does_not_pass_by_itself(server: Servers) -> None:
    with pytest.raises(psycopg.OperationalError, match="does not exist") as role:
        psycopg.connect(dsn(server("postgres").port, user="nosuch"))
    assert outlast.result_of(role.value) is None
    abroad = psycopg.OperationalError("Verbindung abgelehnt", pgconn=role.value.pgconn)
    assert outlast.result_of(abroad) is None

    with redis.Redis(port=server("redis_server").port) as client:
        client.config_set("requirepass", "x")
        with pytest.raises(redis.AuthenticationError) as password:
            redis.Redis(port=server("redis_server").port).ping()
        client.auth("x")
        client.config_set("requirepass", "")
    assert outlast.result_of(password.value) is None

    with closing(mysql_session(server("mariadb"))) as session:
        cursor = session.cursor()
        with pytest.raises(pymysql.OperationalError, match="1040") as number:
            cursor.execute("signal sqlstate '45000' set mysql_errno = 1040")
    assert outlast.result_of(number.value) is None


def test_a_clients_own_limit_is_its_programs(server: Servers) -> None:
    where = Alchemy.where.format(host="127.0.0.1", port=server("postgres").port)
    engine = sqlalchemy.create_engine(
        f"{Alchemy.way}://{where}", pool_size=1, max_overflow=0, pool_timeout=0.1
    )
    with engine.connect(), pytest.raises(sqlalchemy.exc.TimeoutError) as timeout:
        engine.connect()
    assert outlast.result_of(timeout.value) is None
    engine.dispose()
    pool: Any = redis.BlockingConnectionPool(  # type: ignore[no-untyped-call]
        port=server("redis_server").port, max_connections=1, timeout=0.1
    )
    with closing(pool):
        pool.get_connection()
        with pytest.raises(redis.ConnectionError) as none:
            pool.get_connection()
    assert outlast.result_of(none.value) is None


def test_redis_that_tried_before_or_was_asked_for_more(server: Servers) -> None:
    with loading(server) as (port, _), closing(RedisTries(port)) as client:
        assert said_of(client, client.read) == "broke"
        with redis.Redis(port=port, retry=ONCE) as plain:
            pipeline = plain.pipeline(transaction=False).incr("a").incr("b")
            assert said_of(client, pipeline.execute) == "broke"


PROGRAMS = {
    "PostgreSQL": "postgres",
    "pgbouncer": "pgbouncer",
    "Redis": "redis-server",
    "MariaDB": "mariadbd",
}


def release(name: str) -> str:
    """What the installed one says of itself."""
    if name in PROGRAMS:
        argv = [debian(PROGRAMS[name]), "--version"]
        return subprocess.check_output(argv, text=True, env=environment())
    if name == "FerretDB":
        return FERRETDB.joinpath("go.mod").read_text("utf-8")
    return " " + version({"redis-py": "redis"}.get(name, name))


@pytest.mark.parametrize("module", DRIVERS)
def test_the_releases(module: str) -> None:
    tried = import_module(f"outlast._call.drivers.{module}").TRIED
    for each in tried:
        name, _, told = each.rpartition(" ")
        assert re.search(rf"[ =v]{re.escape(told)}\.", release(name)), each
    compared("releases", f"| {tried[0]} | {', '.join(tried[1:])} |")

"""The servers, each with what it needs to begin."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from pathlib import Path
from signal import SIGINT
from typing import Any

import psycopg
import pymongo
import pymysql
import redis

from .servers import ROOT, Server, debian, ferretdb

LEDGER = Path(__file__).with_name("ledger.py")
SLOTS = 5
"""How many connections a server takes at most, where it can be told so."""


def dsn(port: int, **more: str) -> str:
    """Where a PostgreSQL server is, as libpq reads it."""
    fields: dict[str, Any] = {"host": "127.0.0.1", "user": "postgres", "port": port, **more}
    return " ".join(f"{name}={value}" for name, value in fields.items())


def asks_postgres(port: int) -> None:
    """Raise unless a PostgreSQL server answers."""
    psycopg.connect(dsn(port)).close()


def postgres() -> Server:
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "max_connections": SLOTS,
        "superuser_reserved_connections": 1,
        "max_wal_senders": 0,
        "fsync": "off",
    }
    argv = [debian("postgres"), "-D", "{data}/d", "-p", "{port}"]
    argv += [f"--{name}={value}" for name, value in settings.items()]
    server = Server(argv, asks_postgres, SIGINT, nobody=True)
    server.run([debian("initdb"), "-A", "trust", "-U", "postgres", "-N", "-D", "{data}/d"])
    server.start()
    with psycopg.connect(dsn(server.port)) as connection:
        connection.execute("create table t (n int)")
    return server


def pgbouncer(behind: Server) -> Server:
    """In front of a PostgreSQL server, which it gives up soon."""
    server = Server([debian("pgbouncer"), "{data}/b.ini"], asks_postgres, SIGINT, nobody=True)
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": server.port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "max_client_conn": SLOTS,
        "query_wait_timeout": 1,
        "server_login_retry": 1,
    }
    lines = [f"{name} = {value}" for name, value in settings.items()]
    where = f"* = host=127.0.0.1 port={behind.port} user=postgres"
    file = server.data / "b.ini"
    file.write_text("\n".join(["[databases]", where, "[pgbouncer]", *lines]))
    server.own(file)
    server.start(wait=False)
    return server


def redis_server() -> Server:
    def up(port: int) -> None:
        with redis.Redis(port=port) as client:
            client.ping()

    argv = [debian("redis-server"), "--port", "{port}", "--dir", "{data}", "--save", ""]
    # Descriptors are kept for its own use, so it takes that many, and no fewer than 8.
    argv += ["--appendonly", "yes", "--maxclients", "8", "--enable-debug-command", "yes"]
    server = Server(argv, up)
    server.start()
    return server


def mariadb() -> Server:
    def up(port: int) -> None:
        pymysql.connect(host="127.0.0.1", port=port, user="root").close()

    program = debian("mariadbd")
    settings = {
        "datadir": "{data}/d",
        "port": "{port}",
        "bind-address": "127.0.0.1",
        "socket": "{data}/s",
        "pid-file": "{data}/p",
        "skip-networking": 0,
        "max-connections": 2 * SLOTS,
        "innodb-buffer-pool-size": "16M",
        "innodb-fast-shutdown": 2,
        "lc-messages-dir": Path(program).parents[1] / "share" / "mysql",
        **({"user": "root"} if ROOT else {}),
    }
    argv = [program, "--no-defaults", "--skip-grant-tables"]
    argv += [f"--{name}={value}" for name, value in settings.items()]
    server = Server(argv, up)
    (server.data / "d").mkdir()
    server.start()
    with closing(pymysql.connect(host="127.0.0.1", port=server.port, user="root")) as connection:
        cursor = connection.cursor()
        cursor.execute("create database d")
        cursor.execute("create table d.t (n int)")
    return server


def ferret() -> Server:
    def up(port: int) -> None:
        client: Any = pymongo.MongoClient("127.0.0.1", port, serverSelectionTimeoutMS=300)
        with client:
            client.d.t.find_one()

    server = Server([ferretdb(), "127.0.0.1:{port}", "{data}"], up)
    server.start()
    return server


def moto() -> Server:
    def up(port: int) -> None:
        socket.create_connection(("127.0.0.1", port), 5).close()

    server = Server([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "{port}"], up)
    server.start()
    return server


def grpc_ledger() -> Server:
    def up(port: int) -> None:
        socket.create_connection(("127.0.0.1", port), 5).close()

    server = Server([sys.executable, str(LEDGER), "{port}", "{data}/ledger"], up)
    server.start()
    return server

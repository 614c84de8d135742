"""The clients, each with what it keeps from one call to the next, as a program has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg
import botocore.config
import botocore.session
import grpc
import psycopg
import pymongo
import pymysql
import redis
import redis.asyncio
import sqlalchemy
import sqlalchemy.ext.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

from .made import dsn

ONCE = Retry(NoBackoff(), 0)
"""Redis's client tries nothing again by itself."""

COUNT, INSERT = "select count(*) from t", "insert into t values (1)"


class Client:
    """Reads how many writes were applied, and writes.

    Args:
        port: Where its server is.
        host: The name or address of the server.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.port, self.host = port, host

    def read(self) -> int:
        raise NotImplementedError

    def write(self) -> object:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what it keeps."""

    def whole(self, call: Callable[[], Any]) -> Any:
        """What a decorated function gives, in the event loop of its client if it has one."""
        return call()


class InLoop(Client):
    """One that belongs to an event loop."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        self._loop = asyncio.new_event_loop()

    def whole(self, call: Callable[[], Any]) -> Any:
        return self._loop.run_until_complete(call())

    async def let_go(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._loop.run_until_complete(self.let_go())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class Psycopg(Client):
    _kept: Any = None

    def ask(self, sql: str) -> Any:
        if self._kept is None or self._kept.closed:
            where = dsn(self.port, host=self.host)
            self._kept = psycopg.connect(where, autocommit=True)
        return self._kept.execute(sql)

    def read(self) -> int:
        count: int = self.ask(COUNT).fetchone()[0]
        return count

    def write(self) -> object:
        return self.ask(INSERT)

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()


class Asyncpg(InLoop):
    _kept: Any = None

    async def ask(self, sql: str) -> Any:
        if self._kept is None or self._kept.is_closed():
            self._kept = await asyncpg.connect(
                host=self.host, port=self.port, user="postgres", statement_cache_size=0
            )
        return await self._kept.fetchval(sql)

    async def read(self) -> int:  # type: ignore[override]
        count: int = await self.ask(COUNT)
        return count

    async def write(self) -> object:
        return await self.ask(INSERT)

    async def let_go(self) -> None:
        if self._kept is not None:
            self._kept.terminate()


class Alchemy(Client):
    """By the way that a name of SQLAlchemy's stands for."""

    way, where = "postgresql+psycopg", "postgres@{host}:{port}/postgres"

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        url = f"{self.way}://{self.where.format(host=host, port=port)}"
        self._engine = sqlalchemy.create_engine(url)

    def read(self) -> int:
        with self._engine.begin() as connection:
            count: int = connection.execute(sqlalchemy.text(COUNT)).scalar_one()
            return count

    def write(self) -> object:
        with self._engine.begin() as connection:
            return connection.execute(sqlalchemy.text(INSERT))

    def close(self) -> None:
        self._engine.dispose()


class AlchemyMySQL(Alchemy):
    way, where = "mysql+pymysql", "root@{host}:{port}/d"


class AlchemyAsync(InLoop):
    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        url = f"postgresql+asyncpg://postgres@{host}:{port}/postgres"
        self._engine = sqlalchemy.ext.asyncio.create_async_engine(url)

    async def read(self) -> int:  # type: ignore[override]
        async with self._engine.begin() as connection:
            count: int = (await connection.execute(sqlalchemy.text(COUNT))).scalar_one()
            return count

    async def write(self) -> object:
        async with self._engine.begin() as connection:
            return await connection.execute(sqlalchemy.text(INSERT))

    async def let_go(self) -> None:
        await self._engine.dispose()


class Redis(Client):
    tries = 0

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        self._client = redis.Redis(host=host, port=port, retry=Retry(NoBackoff(), self.tries))

    def read(self) -> int:
        return int(self._client.get("t") or 0)

    def write(self) -> object:
        return self._client.incr("t")

    def close(self) -> None:
        self._client.close()


class RedisTries(Redis):
    """It tries again by itself."""

    tries = 2


class RedisAsync(InLoop):
    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        from redis.asyncio.retry import Retry as AsyncRetry

        self._client = redis.asyncio.Redis(host=host, port=port, retry=AsyncRetry(NoBackoff(), 0))

    async def read(self) -> int:  # type: ignore[override]
        return int(await self._client.get("t") or 0)

    async def write(self) -> object:
        return await self._client.incr("t")

    async def let_go(self) -> None:
        await self._client.aclose()


class MySQL(Client):
    _kept: Any = None

    def ask(self, sql: str) -> Any:
        if self._kept is None or not self._kept.open:
            self._kept = pymysql.connect(
                host=self.host, port=self.port, user="root", database="d", autocommit=True
            )
        with self._kept.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()

    def read(self) -> int:
        count: int = self.ask(COUNT)[0]
        return count

    def write(self) -> object:
        return self.ask(INSERT)

    def close(self) -> None:
        if self._kept is not None and self._kept.open:
            self._kept.close()


class Mongo(Client):
    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        self._client: Any = pymongo.MongoClient(
            host, port, serverSelectionTimeoutMS=500, retryWrites=False
        )

    def read(self) -> int:
        count: int = self._client.d.t.count_documents({})
        return count

    def write(self) -> object:
        return self._client.d.t.insert_one({"n": 1})

    def close(self) -> None:
        self._client.close()


class Botocore(Client):
    """Its writes are keys of AWS's key management, two of which are never one."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        session = botocore.session.Session()
        session.set_credentials("none", "none")
        self._client = session.create_client(
            "kms",
            region_name="us-east-1",
            endpoint_url=f"http://{host}:{port}",
            config=botocore.config.Config(retries={"total_max_attempts": 1}, proxies={}),
        )

    def read(self) -> int:
        return len(self._client.list_keys()["Keys"])

    def write(self) -> object:
        return self._client.create_key()

    def close(self) -> None:
        self._client.close()


class Grpc(Client):
    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__(port, host)
        # Else it does not try to connect for a second and more after it could not.
        options = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.enable_http_proxy", 0)]
        self._channel = grpc.insecure_channel(f"{host}:{port}", options)

    def ask(self, method: str, request: bytes = b"x") -> bytes:
        answer: bytes = self._channel.unary_unary(f"/ledger/{method}")(request)
        return answer

    def read(self) -> int:
        return int(self.ask("read"))

    def write(self) -> object:
        return self.ask("write")

    def close(self) -> None:
        self._channel.close()


CLIENTS: dict[str, tuple[str, type[Client]]] = {
    "psycopg": ("postgres", Psycopg),
    "asyncpg": ("postgres", Asyncpg),
    "SQLAlchemy with psycopg": ("postgres", Alchemy),
    "SQLAlchemy with asyncpg": ("postgres", AlchemyAsync),
    "redis-py": ("redis_server", Redis),
    "redis-py with asyncio": ("redis_server", RedisAsync),
    "PyMySQL": ("mariadb", MySQL),
    "SQLAlchemy with PyMySQL": ("mariadb", AlchemyMySQL),
    "PyMongo": ("ferret", Mongo),
    "botocore": ("moto", Botocore),
    "grpcio": ("grpc_ledger", Grpc),
}
"""Each with the server that it is tried with."""

"""Writes by any client, against servers that fail in any way at any time. What is applied
is of one attempt only, and what is said of it is so.

OUTLAST_CALLS makes more calls than the few of each run, OUTLAST_SEED others.
"""

from __future__ import annotations

import gc
import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import outlast
from outlast import Policy

from .clients import CLIENTS, AsyncAsk, result_of
from .servers import (
    Answer,
    closed_port,
    closes,
    cuts,
    dies,
    drops,
    goes,
    ok,
    quick,
    refuses,
    resets,
    says,
    serving,
)
from .test_matrix import awaited

CALLS = int(os.environ.get("OUTLAST_CALLS", "200"))
SEED = int(os.environ.get("OUTLAST_SEED", "1"))

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients


def answers(chance: random.Random, two: bool) -> list[Answer]:
    """How a server treats its first requests."""
    dead = f"http://127.0.0.1:{closed_port()}/tag-99"
    each: list[Answer] = [ok, resets, closes, cuts, drops, dies(0.1), dies(0.3)]
    each += [refuses, *(says(status) for status in (409, 500, 503))]
    each += [says(429, Retry_After="0"), says(307, Location=dead), says(303, Location=dead)]
    if two:
        each += [goes(0), goes(1), goes(3)]
    return chance.choices(each, k=chance.randrange(4))


def call(number: int) -> str:
    """One call, and what is wrong with it."""
    chance = random.Random(SEED * 1_000_000 + number)
    name = chance.choice(list(CLIENTS))
    two = name.endswith(" h2")
    script = answers(chance, two)
    requests, again, warm = chance.choice([1, 1, 2]), chance.random() < 0.3, chance.random() < 0.5
    with serving(two=two) as server, CLIENTS[name]("", again) as ask:
        if warm:
            awaited(ask, lambda: ask(server.url, False))
        server.tags.clear()
        server.script = script[:]
        server.slams = chance.choice([0, 0, 0, 1, 5])
        if chance.random() < 0.3:
            server.away(chance.choice([0.05, 0.2]))
        attempts = 0

        def once() -> Any:
            nonlocal attempts
            attempts += 1
            url = f"{server.url}tag-{attempts}"
            for _ in range(requests - 1):
                ask(url, True)
            return ask(url, True)

        async def in_asyncio() -> Any:
            nonlocal attempts
            attempts += 1
            url = f"{server.url}tag-{attempts}"
            for _ in range(requests):
                await ask(url, True)

        function = in_asyncio if isinstance(ask, AsyncAsk) else once
        policy = Policy(quick("3s"), check=False)
        write: Any = outlast.retry(remote=True, write=True, policy=policy, result_of=result_of)
        try:
            awaited(ask, write(function))
            ended = "ok"
        except outlast.CallError as e:
            ended = "unknown" if e.outcome.effects == "unknown" else "none"
        except Exception as e:
            ended = f"raises {type(e).__name__}"
        tags = set(server.tags)
    wrong = len(tags) > 1 or (ended == "none" and tags) or (ended == "ok" and not tags)
    how = [getattr(each, "__qualname__", "") for each in script]
    what = f"{name}, {requests} requests, again {again}, warm {warm}, {how}"
    return f"call {number}: {ended}, of attempts {sorted(tags)}: {what}" if wrong else ""


def test_what_is_applied_is_of_one_attempt() -> None:
    with ThreadPoolExecutor(16) as pool:
        wrong = list(filter(None, pool.map(call, range(CALLS))))
    gc.collect()  # while nobody minds what failing clients leave open
    assert not wrong, "\n".join(wrong)

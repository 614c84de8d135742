"""The OpenAI SDK over the transports, and in functions that are retried."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import outlast
from evidence.servers import Answer, Exchange, Server, closed_port, resets, says, serving
from outlast import events as e
from outlast.testing import VirtualClock

openai = pytest.importorskip("openai", reason="Python 3.10 has no httpx2")

PAGE = Path(__file__).parents[3] / "docs" / "http-clients.md"

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients

ANSWER = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "hello"},
            }
        ],
    }
).encode()

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["OpenAI", "AsyncOpenAI"])


def completes(exchange: Exchange) -> None:
    exchange.apply()
    exchange.respond(200, ANSWER, Content_Type="application/json")


def chat(client: Any) -> Any:
    """What the model answers, or a coroutine of that."""
    said = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    got = client.chat.completions.create(**said)
    if isinstance(client, openai.AsyncOpenAI):
        return _text(got)
    return got.choices[0].message.content


async def _text(got: Any) -> Any:
    return (await got).choices[0].message.content


def asks(asynchronous: bool, server: Server, retries: int = 0, **options: Any) -> Any:
    """Ask once, with the transport."""
    own: Any = {"api_key": "k", "base_url": f"{server.url}v1", "max_retries": retries}
    ours = outlast.clients.httpx2
    if not asynchronous:
        http = openai.DefaultHttpx2Client(transport=ours.Transport(**options))
        with openai.OpenAI(http_client=http, **own) as client:
            return chat(client)

    async def main() -> Any:
        http = openai.DefaultAsyncHttpx2Client(transport=ours.AsyncTransport(**options))
        async with openai.AsyncOpenAI(http_client=http, **own) as client:
            return await chat(client)

    return asyncio.run(main())


def returns(server: Server) -> Callable[[e.Event], None]:
    """Lets a server come back after the second attempt."""

    def told(event: e.Event) -> None:
        if isinstance(event, e.AttemptEnded) and event.attempt == 2:
            server.start()

    return told


def test_the_recipe_rides_out_a_restart() -> None:
    recipe = next(
        block
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        if "openai.OpenAI(" in block
    )
    names: dict[str, Any] = {}

    def serve(exchange: Exchange) -> None:
        if exchange.request.startswith(b"GET /health"):
            exchange.respond()
        else:
            completes(exchange)

    with serving(*[serve] * 20) as server:
        exec(recipe.replace("http://models:8000/", server.url), names)
        with names["client"] as client:
            assert chat(client) == "hello"  # by a connection that is kept, and breaks
            server.away(1)
            assert chat(client) == "hello"
        asyncio.run(names["coroutines"].close())
        assert server.applied == 2


@BOTH
def test_it_is_made_once_unless_that_is_harmless(asynchronous: bool, clock: VirtualClock) -> None:
    with serving(resets, resets, completes) as server:
        with pytest.raises(openai.APIConnectionError) as raised:
            asks(asynchronous, server)
        outcome = outlast.outcome_of(raised.value.__cause__)
        assert outcome is not None
        assert (outcome.type, server.applied) == ("indeterminate", 1)
        assert asks(asynchronous, server, repeatable="POST /v1/chat/completions") == "hello"
        assert server.applied == 3


def test_what_the_sdks_own_tries_do(clock: VirtualClock) -> None:
    """They repeat what may have been applied: so the recipe has none."""
    with serving(resets, completes) as server:
        assert asks(False, server, retries=1) == "hello"
        assert server.applied == 2


@BOTH
def test_a_rate_limit(asynchronous: bool, clock: VirtualClock) -> None:
    busy = says(429, Retry_After="7")
    with serving(busy, busy, completes) as server:
        with pytest.raises(openai.RateLimitError) as raised:
            asks(asynchronous, server)
        outcome = outlast.outcome_of(raised.value.response)
        assert outcome is not None
        assert outcome.type == "indeterminate"
        assert asks(asynchronous, server, refuses_before_acting="POST /v1/**") == "hello"
        assert clock.now() >= 7


def test_a_client_of_httpx(clock: VirtualClock) -> None:
    """Which the SDK takes too."""
    server = Server(completes)
    transport = outlast.clients.httpx.Transport(observe=returns(server))
    client = openai.OpenAI(
        api_key="k",
        base_url=f"{server.url}v1",
        max_retries=0,
        http_client=httpx.Client(transport=transport),
    )
    with client:
        assert chat(client) == "hello"
    server.stop()


def test_the_wrong_transport_is_told(clock: VirtualClock) -> None:
    http = openai.DefaultHttpx2Client(transport=outlast.clients.httpx.Transport())
    with serving(completes) as server:
        client = openai.OpenAI(api_key="k", base_url=server.url, max_retries=0, http_client=http)
        with client, pytest.raises(TypeError, match=r"there is outlast\.clients\.httpx2\.Transpo"):
            chat(client)
        assert server.applied == 0


def test_what_a_transport_takes_has_its_own_name() -> None:
    """The SDK puts its name to that class of httpx2's."""
    with pytest.raises(TypeError, match=r"takes an httpx2\.BaseTransport, not .*httpx\.HTTPTrans"):
        outlast.clients.httpx2.Transport(httpx.HTTPTransport())  # type: ignore[arg-type]


# Functions that are retried, by the SDK as it is.


def decorated(asynchronous: bool, url: str, write: bool = True, **options: Any) -> Any:
    """Ask in a function that is retried."""
    own: Any = {"api_key": "k", "base_url": f"{url}v1", "max_retries": 0}
    retried = outlast.retry(remote=True, write=write, **options)
    if not asynchronous:
        with openai.OpenAI(**own) as client:
            return retried(chat)(client)

    async def ask(client: Any) -> Any:
        return await chat(client)

    async def main() -> Any:
        async with openai.AsyncOpenAI(**own) as client:
            return await retried(ask)(client)

    return asyncio.run(main())


@BOTH
def test_its_exceptions_are_known(asynchronous: bool, clock: VirtualClock) -> None:
    cases: list[tuple[Answer, dict[str, Any]]] = [
        (resets, {"repeatable": True}),
        (says(429, Retry_After="7"), {"refuses_before_acting": True}),
        (says(503), {"write": False}),
    ]
    for answer, options in cases:
        with serving(answer, completes) as server:
            assert decorated(asynchronous, server.url, **options) == "hello"
    with serving(resets) as server, pytest.raises(outlast.Indeterminate, match="request by httpx2"):
        decorated(asynchronous, server.url)
    with serving(says(400)) as server, pytest.raises(outlast.Failed, match="Error code: 400"):
        decorated(asynchronous, server.url)


def test_what_it_raises_without_a_request() -> None:
    request = openai.DefaultHttpx2Client().build_request("GET", "http://models/")
    assert outlast.result_of(openai.APIConnectionError(request=request)) is None
    assert outlast.result_of(openai.OpenAIError("x")) is None


@BOTH
def test_the_first_request_of_a_program(asynchronous: bool) -> None:
    """The SDK says with it where it runs, which a process is started for."""
    code = f"""
import outlast, outlast.testing, sys
from clients.test_openai import decorated

with outlast.testing.virtual_time():
    try:
        decorated({asynchronous}, "http://127.0.0.1:{closed_port()}/", budget=5)
    except outlast.Exhausted as e:
        assert e.outcome.attempts > 2
        sys.exit(7)
"""
    folder = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60, cwd=folder)
    assert done.returncode == 7

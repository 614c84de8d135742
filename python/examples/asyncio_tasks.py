"""A hundred tasks that ride out the restart of a server, to be run as it is:

python asyncio_tasks.py
"""

from __future__ import annotations

import asyncio
import socket
import time

import outlast
import outlast.hooks


@outlast.retry(remote=True, write=False)
async def ask(port: int) -> bytes:
    """Ask the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()


async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say hello."""
    writer.write(b"hello\n")
    await writer.drain()
    writer.close()


async def main() -> None:
    """Ask a hundred times while the server is away for two seconds."""
    outlast.hooks.set_hooks(())  # a hundred tasks would say a lot
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = int(s.getsockname()[1])
    began = time.monotonic()
    asking = [asyncio.create_task(ask(port)) for _ in range(100)]
    await asyncio.sleep(2)
    async with await asyncio.start_server(answer, "127.0.0.1", port):
        answers = await asyncio.gather(*asking)
    took = time.monotonic() - began
    print(f"{answers.count(b'hello' + bytes([10]))} of 100 answered, the last after {took:.1f} s")


if __name__ == "__main__":
    asyncio.run(main())

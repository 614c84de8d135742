"""A server of gRPC that appends a line for each write, and counts them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc


class Handler(grpc.GenericRpcHandler):
    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger

    def service(self, details: Any) -> Any:
        answer = getattr(self, details.method.rpartition("/")[2])
        return grpc.unary_unary_rpc_method_handler(answer)

    def write(self, request: bytes, context: Any) -> bytes:
        with self._ledger.open("ab") as ledger:
            ledger.write(request + b"\n")
        return b""

    def read(self, request: bytes, context: Any) -> bytes:
        return str(len(self._ledger.read_bytes().splitlines())).encode()

    def relay(self, request: bytes, context: Any) -> bytes:
        """Write, and then say what a server behind this one said."""
        self.write(request, context)
        context.abort(grpc.StatusCode.UNAVAILABLE, request.decode())
        return b""


if __name__ == "__main__":
    port, path = sys.argv[1:]
    Path(path).touch()
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([Handler(Path(path))])
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    server.wait_for_termination()

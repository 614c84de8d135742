"""One look at whether a listener closes a connection at once, of its own accord.

A proxy of TCP whose server is away does so: docker's, HAProxy's, a port-forward.
"""

from __future__ import annotations

import socket
from typing import Any

Peer = tuple[int, Any]
"""A family of addresses, and an address in it."""


def closes(peer: Peer, patience: float) -> bool:
    """Whether a connection that sends nothing is closed within so many seconds."""
    family, address = peer
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(patience)
        try:
            sock.connect(address)
        except OSError:
            return False
        try:
            return sock.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

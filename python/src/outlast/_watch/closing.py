"""Whether a listener closes a connection at once, of its own accord.

A proxy of TCP whose server is away does so: docker's, HAProxy's, a port-forward.
"""

from __future__ import annotations

import socket
from typing import Any

Peer = tuple[int, Any]
"""A family of addresses, and an address in it."""


def closes(peer: Peer, patience: float) -> bool:
    """Whether a connection is made and, though nothing is sent, closed within so many
    seconds.
    """
    family, address = peer
    try:
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(patience)
            sock.connect(address)
            return not stays(sock, patience)
    except OSError:  # also where there can be no more sockets
        return False


def stays(sock: socket.socket, patience: float) -> bool:
    """Whether a connection is kept for so many seconds, or something is said on it."""
    sock.settimeout(patience)
    try:
        return sock.recv(1, socket.MSG_PEEK) != b""
    except TimeoutError:
        return True
    except OSError:
        return False

#!/usr/bin/env python3
"""A command that is like omnigraph: it asks a server for rows, and says as
omnigraph 0.8 does when it cannot reach one.

    omnigraph query --server http://127.0.0.1:8080 --graph people …
"""

import os
import socket
import sys
import time
import urllib.parse

REFUSED = """Error: \n
   0: \x1b[91merror sending request for url ({url}/graphs/people/read)\x1b[0m
   1: \x1b[91mclient error (Connect)\x1b[0m
   2: \x1b[91mtcp connect error\x1b[0m
   3: \x1b[91m{why}\x1b[0m

Location:
   crates/omnigraph-cli/src/client.rs:1
"""


def main(arguments: list[str]) -> int:
    time.sleep(float(os.environ.get("OMNIGRAPH_LIKE_SLEEPS", "0")))
    url = arguments[arguments.index("--server") + 1]
    address = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection(
            (address.hostname or "", address.port or 0), 30
        ) as connection:
            connection.sendall(" ".join(arguments[:1]).encode() + b"\n")
            answer = connection.makefile().readline()
    except OSError as e:
        sys.stderr.write(REFUSED.format(url=url, why=e))
        return 1
    sys.stdout.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

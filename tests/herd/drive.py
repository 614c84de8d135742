"""Makes so many calls of a server, which wait for it together.

Usage: drive.py URL COUNT
"""

from __future__ import annotations

import sys
import threading
import time
import urllib.request

import outlast
from outlast.ready import Server

URL, COUNT = sys.argv[1], int(sys.argv[2])
failed: list[BaseException] = []


@outlast.retry(remote=True, write=False, ready=Server(f"{URL}/healthz"))
def ask() -> None:
    with urllib.request.urlopen(f"{URL}/data") as answer:
        answer.read()


def call() -> None:
    try:
        ask()
    except BaseException as e:
        failed.append(e)


threads = [threading.Thread(target=call) for _ in range(COUNT)]
for thread in threads:
    thread.start()
    time.sleep(0.01)
for thread in threads:
    thread.join()
if failed:
    sys.exit(f"{len(failed)} of {COUNT}: {failed[0]}")

"""Many asyncio tasks that fail at once, and are cancelled at once, beside stamina's.

    python benchmarks/many.py [tasks]

How long the event loop stands still, as the processor's time: each figure is the median
of several processes, which take turns. Both log as they do unless told otherwise.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

RUNS = int(os.environ.get("RUNS", "5"))
LIMIT = 1.5
"""How many times as long as stamina's it may take."""

CODE = """
import asyncio, time
{setup}

async def main():
    first = asyncio.create_task(ask())
    await asyncio.sleep(0.2)
    tasks = [asyncio.create_task(ask()) for _ in range({tasks})]
    began = time.process_time()
    await asyncio.sleep(0)
    failed = time.process_time()
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
    print(failed - began, time.process_time() - failed)
    first.cancel()
    await asyncio.gather(first, *tasks, return_exceptions=True)

asyncio.run(main())
"""

SETUPS = {
    "outlast": """
import outlast
outlast.default_plugin().load()

@outlast.retry(remote=True, write=False)
async def ask():
    raise ConnectionRefusedError(111, "Connection refused")
""",
    "stamina": """
import stamina

@stamina.retry(on=ConnectionError, timeout=7200, attempts=None, wait_initial=60, wait_max=60)
async def ask():
    raise ConnectionRefusedError(111, "Connection refused")
""",
}


def measure(setup: str, tasks: int) -> tuple[float, float]:
    """What one process takes to fail, and to cancel."""
    code = CODE.format(setup=setup, tasks=tasks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    failed, cancelled = done.stdout.splitlines()[-1].split()
    return float(failed), float(cancelled)


def main() -> int:
    """Measure, and print a table."""
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in SETUPS}
    for _ in range(RUNS):
        for name, setup in SETUPS.items():
            figures[name].append(measure(setup, tasks))
    print(f"| {tasks:,} tasks | {' | '.join(SETUPS)} | times |\n|---|---|---|---|")
    within = True
    for number, what in enumerate(("fail at once", "are cancelled at once")):
        took = [statistics.median(each[number] for each in figures[name]) for name in SETUPS]
        times = took[0] / took[1]
        within = within and times <= LIMIT
        print(f"| {what} | {' | '.join(f'{each:.2f} s' for each in took)} | {times:.2f} |")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())

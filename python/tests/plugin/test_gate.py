"""The way into the engine."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from outlast._plugin.gate import Gate


def soon(condition: threading.Event) -> bool:
    return condition.wait(20)


def test_so_many_and_no_more() -> None:
    gate = Gate(3)
    inside, most = 0, 0
    lock = threading.Lock()

    def work(_: int) -> None:
        nonlocal inside, most
        with gate:
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.001)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(120)))
    assert (inside, most) == (0, 3)


def test_who_is_inside_may_go_in_again() -> None:
    gate = Gate(1)
    with gate, gate:
        pass
    with gate:
        pass


def closing(gate: Gate) -> tuple[threading.Thread, threading.Event]:
    """A thread that closes the gate, and whether it has."""
    closed = threading.Event()

    def close() -> None:
        gate.close()
        closed.set()

    thread = threading.Thread(target=close)
    thread.start()
    return thread, closed


def test_a_fork_waits_for_who_is_inside_and_keeps_others_out() -> None:
    gate = Gate(2)
    entered, leave, second = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with gate:
            entered.set()
            assert soon(leave)

    def other() -> None:
        with gate:
            second.set()

    holder = threading.Thread(target=first)
    holder.start()
    assert soon(entered)
    closer, closed = closing(gate)
    assert not closed.wait(0.05)
    late = threading.Thread(target=other)
    late.start()
    assert not second.wait(0.05)  # although there is room for two
    leave.set()
    assert soon(closed)
    assert not second.wait(0.05)
    gate.open()
    assert soon(second)
    for thread in (holder, closer, late):
        thread.join(20)


def test_a_fork_from_inside_waits_for_the_others_only() -> None:
    gate = Gate(2)
    with gate:  # as a signal's handler might find its thread
        gate.close()
        gate.open()
    with gate:
        pass


def test_two_forks_at_once() -> None:
    gate = Gate(1)
    gate.close()
    closer, closed = closing(gate)
    assert soon(closed)
    gate.open()
    entered = threading.Event()

    def enter() -> None:
        with gate:
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert not entered.wait(0.05)
    gate.open()
    assert soon(entered)
    closer.join(20)
    thread.join(20)


def test_a_child_starts_over() -> None:
    gate = Gate(1)
    gate.close()
    gate.reopen()
    with gate:
        pass

"""Calls in threads of their own: several at once, or one that is not waited for for ever."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def map_side_by_side(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """`function` of each item in order, at most `workers` at once.

    An exception is raised when its item's turn comes; nothing is begun after that. The threads
    are daemons, which those of an executor are not: a run that is stopped does not wait for them.

    >>> list(map_side_by_side(str.upper, ["a", "b"], workers=2))
    ['A', 'B']
    """
    calls: list[tuple[T, Future[R]]] = [(item, Future()) for item in items]
    waiting = deque(calls)

    def work() -> None:
        while True:
            try:
                item, future = waiting.popleft()
            except IndexError:
                return
            try:
                future.set_result(function(item))
            except BaseException as error:
                future.set_exception(error)

    for _ in range(min(workers, len(calls))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _, future in calls:
            yield future.result()
    finally:
        waiting.clear()


def call_within(limit_s: float, function: Callable[[], R]) -> R:
    """`function()`, or `TimeoutError` after `limit_s`; its thread is left to itself then.

    A server that sends a byte now and then is never silent long enough for a client's time-out.

    >>> call_within(1.0, lambda: 2)
    2
    """
    future: Future[R] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return future.result(timeout=limit_s)
    except TimeoutError:
        if future.done():  # the function's own
            raise
        raise TimeoutError(f"no complete answer within {limit_s:g} s") from None

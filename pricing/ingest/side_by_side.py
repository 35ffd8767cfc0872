"""Several calls at once, each in a thread of its own."""

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

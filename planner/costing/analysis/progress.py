"""How far a long computation is, for whoever waits for it. PURE.

A loop that may take long calls `report`; it does nothing unless a caller listens, who may also
stop the computation by raising. What is computed never depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


def report(done: int, total: int) -> None:
    """Tells the listener, if there is one, that `done` of `total` steps are over.

    >>> with listener(lambda done, total: print(f"{done} of {total}")):
    ...     report(1, 4)
    1 of 4
    >>> report(2, 4)
    """
    callback = _listener.get()
    if callback is not None:
        callback(done, total)


@contextmanager
def listener(callback: Listener) -> Iterator[None]:
    """Report the progress of the computations inside to `callback`; what it raises ends them."""
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)

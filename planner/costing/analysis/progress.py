"""How far a long computation is, for whoever waits for it. PURE.

A loop that may take long calls `beat`; it does nothing unless a caller listens, who may also
stop the computation by raising. What is computed never depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("pulse", default=None)


def beat(done: int, total: int) -> None:
    """Tells the listener, if there is one, that `done` of `total` steps are over.

    >>> with listening(lambda done, total: print(f"{done} of {total}")):
    ...     beat(1, 4)
    1 of 4
    >>> beat(2, 4)
    """
    listener = _listener.get()
    if listener is not None:
        listener(done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Computations within hear of `listener`; what it raises ends them."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

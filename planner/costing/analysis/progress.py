"""How far a long computation is, for whoever waits for it. PURE.

Who waits passes a function that is told, and that may stop the computation by raising. What is
computed never depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[int, int], None]
"""Told how many steps are done, and of how many."""


def nobody_waits(done: int, total: int) -> None:
    """Tells nobody."""

"""How much work a question may take, counted and never timed. PURE.

A *unit* is about what a processor core does in a microsecond: a simplex iteration of a small
model takes a few, one month of a thousand simulated outcomes about ten. Units follow from the
sizes of models and the iterations of the solver, so that the same question spends the same on
every machine and gives the same answer, stopped or not.

A meter belongs to one question. Whoever computes charges what it did; whoever may leave
something out asks first whether anything is left. Parts of a meter share its budget out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

IsCancelled = Callable[[], bool]
MAX_MODEL_CELLS = 8_000_000
"""Figures that the arrays of one step may hold together: 64 MB."""
CELL_UNITS = 0.02
"""Units for a figure of a model."""
CHECK_EVERY = 2_000
"""Units between two looks at whether anybody still waits for the answer."""


class WorkSpentError(Exception):
    """What has to be computed takes more work than there is."""


class TooLargeError(WorkSpentError):
    """A model does not fit into memory, however much work there is."""


class WorkCancelledError(Exception):
    """Nobody waits for the answer any more."""


class WorkMeter:
    """Counts work against a limit.

    >>> work = WorkMeter(1_000)
    >>> search = work.part(300)
    >>> search.charge(400)
    >>> search.is_spent, work.is_spent, work.done
    (True, False, 400)
    >>> work.charge(601)
    Traceback (most recent call last):
    planner.costing.optimizer.work.WorkSpentError: 1,001 units of work, of 1,000
    """

    def __init__(
        self,
        limit: float = inf,
        is_cancelled: IsCancelled | None = None,
        *,
        parent: WorkMeter | None = None,
        stops: bool = True,
    ) -> None:
        self.limit = limit
        self.stops = stops
        """Whether work beyond the limit is refused; else it is only said to be spent."""
        self.done = 0
        self.left_out = False
        """Whether something was left out, or ended early, for lack of work or memory."""
        self.is_too_large = False
        """Whether memory was the reason, so that more work would not help."""
        self._parent = parent
        self._is_cancelled = is_cancelled
        self._next_check = CHECK_EVERY

    def part(self, limit: float, *, stops: bool = False) -> WorkMeter:
        """A meter for part of the work, which is charged here too."""
        return WorkMeter(limit, parent=self, stops=stops)

    def share(self, fraction: float, *, stops: bool = True) -> WorkMeter:
        """A part that may spend so much of what is left."""
        return self.part(self.remaining * fraction, stops=stops)

    @property
    def remaining(self) -> float:
        """Units left before something has to be left out, 0 where nothing is left. A part that
        stops looks past those above it that do not."""
        own = max(self.limit - self.done, 0.0)
        if self._parent is None:
            return own
        return min(own, self._parent.stop_after if self.stops else self._parent.remaining)

    @property
    def stop_after(self) -> float:
        """Units left before work is refused."""
        own = max(self.limit - self.done, 0.0) if self.stops else inf
        return own if self._parent is None else min(own, self._parent.stop_after)

    @property
    def is_spent(self) -> bool:
        return self.remaining <= 0

    def charge(self, units: float) -> None:
        """Counts work. Raises `WorkSpentError` beyond the limit, `WorkCancelledError` where
        nobody waits any more."""
        self.done += max(int(units), 0)
        if self._parent is not None:
            self._parent.charge(units)
        elif self.done >= self._next_check:
            self.check()
        if self.stops and self.done > self.limit:
            raise self.leave_out(f"{self.done:,} units of work, of {self.limit:,.0f}")

    def leave_out(self, what: str) -> WorkSpentError:
        """Notes that something was left out, and gives the error that says so."""
        self.left_out = True
        if self._parent is not None:
            self._parent.leave_out(what)
        return WorkSpentError(what)

    def note_too_large(self) -> None:
        """Notes that something did not fit into memory."""
        self.is_too_large = True
        if self._parent is not None:
            self._parent.note_too_large()

    def charge_model(self, cells: float) -> None:
        """Counts the building of a model whose largest array has so many figures. Raises
        `TooLargeError` where it would not fit into memory."""
        if cells > MAX_MODEL_CELLS:
            what = f"a model of {cells:,.0f} figures, of {MAX_MODEL_CELLS:,}"
            self.note_too_large()
            self.leave_out(what)
            raise TooLargeError(what)
        self.charge(cells * CELL_UNITS)

    def check(self) -> None:
        """Raises `WorkCancelledError` where nobody waits any more."""
        if self.is_cancelled():
            raise WorkCancelledError
        self._next_check = self.done + CHECK_EVERY

    def is_cancelled(self) -> bool:
        """Whether nobody waits any more."""
        if self._parent is not None:
            return self._parent.is_cancelled()
        return self._is_cancelled is not None and self._is_cancelled()

"""One run on a number of accelerators of one kind, whatever its kind of work. PURE.

A kind of work that is sized gives a `RunTask` for each accelerator (`candidates.TASKS`); all that
is done with its runs is done with a `RunSize`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from planner.contract.answer.estimate import RunFigures
from planner.contract.copies import cached_property
from planner.sizing.performance.goodput import (
    CHECKPOINT_HOURS,
    daly_interval,
    energy_kwh,
    goodput_by_band,
    job_mtbf,
)
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator

NORMAL = NormalDist()
LONG_DAYS = 180.0
"""Days from which a run is said to take too long to be one; a planning choice, 2026."""


def range_sds(range_p10_p90: tuple[float, float]) -> tuple[float, float]:
    """Standard deviations of the logarithm of hours below and above their median."""
    low, high = range_p10_p90
    return abs(math.log(low)) / NORMAL.inv_cdf(0.9), abs(math.log(high)) / NORMAL.inv_cdf(0.9)


def hours_kept_in(range_p10_p90: tuple[float, float], share: float) -> float:
    """Factor on the median hours that is not exceeded in a share of outcomes, at least 1.

    >>> round(hours_kept_in((0.6, 1.8), 0.9), 2), hours_kept_in((1.0, 1.0), 0.9)
    (1.8, 1.0)
    """
    _, above = range_sds(range_p10_p90)
    return max(1.0, math.exp(above * NORMAL.inv_cdf(share)))


@dataclass(frozen=True, kw_only=True)
class RunSize(ABC):
    """One run on `accelerators` of one kind."""

    accelerator: Accelerator
    accelerators: int
    hours: float
    """Accelerator-hours, p50."""
    goodput: float
    goodput_source: str
    min_accelerators: int = 1
    """Fewest that hold it."""
    count_words: tuple[str, ...] = ()
    """Why it is on more accelerators than would do, where it is."""

    @property
    @abstractmethod
    def method(self) -> str:
        """How its hours came about, in one sentence."""

    @property
    @abstractmethod
    def range_p10_p90(self) -> tuple[float, float]:
        """Factors on `hours`."""

    @property
    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """Why to doubt its figures."""

    @property
    @abstractmethod
    def dense_tflops(self) -> float | None:
        """Dense rate of the accelerator at the precision of the work."""

    @property
    def wall_clock_hours(self) -> float:
        return self.hours / self.accelerators

    def warn_long(self) -> Iterator[str]:
        """That it takes longer than anybody waits."""
        days = self.wall_clock_hours / 24
        if days >= LONG_DAYS:
            takes = f"{days:,.0f} days" if days < 3650 else f"{days / 365:,.0f} years"
            named = pluralize(self.accelerators, "accelerator")
            yield f"on {named} it takes {takes}: use more, or do less work"

    @property
    def energy_kwh(self) -> float | None:
        """Energy of the run's servers, without the data centre's overhead."""
        return energy_kwh(self.accelerator, self.hours)

    @property
    def words(self) -> str:
        """What works at once."""
        return f"{self.accelerators:,} × {self.accelerator.name} or more at once"

    @property
    def beyond_peak(self) -> int:
        """Accelerators at the busiest of a day beyond those around the clock."""
        return 0

    @property
    def unused(self) -> int:
        """Accelerators that its split leaves idle."""
        return 0

    @property
    def share_of_level(self) -> float:
        """Rate under its split over the level of the accelerator."""
        return 1.0

    @property
    def at_once(self) -> int:
        """Accelerators of which its split takes a multiple."""
        return 1

    @property
    def tensor_parallel(self) -> int:
        """Accelerators that every layer is split over."""
        return 1

    @property
    def memory_gib(self) -> float | None:
        """Taken on the fullest accelerator; None where that is not known."""
        return None

    @property
    def least_gib(self) -> float:
        """The same with one sequence at a time; 0 where that is not known."""
        return 0.0

    @property
    def headroom(self) -> float | None:
        """Share of memory left free."""
        return (
            None if self.memory_gib is None else 1 - self.memory_gib / self.accelerator.memory_gib
        )

    @property
    def memory_reason(self) -> str:
        """What it holds of the memory, for the reasons of a ranking."""
        return ""

    @property
    def links_reason(self) -> str:
        """What its traffic costs, for the reasons of a ranking."""
        return ""

    @property
    def saving_hours(self) -> float:
        """Hours to save a checkpoint."""
        return CHECKPOINT_HOURS

    @property
    def own_figures(self) -> RunFigures:
        """Figures that only its kind of work has."""
        return RunFigures()

    @cached_property
    def figures(self) -> RunFigures:
        """Its figures; None where one has no meaning for the kind of work."""
        mtbf = job_mtbf(self.accelerators)
        return self.own_figures.model_copy(
            update={
                "wall_clock_hours": self.wall_clock_hours,
                "goodput": self.goodput,
                "goodput_source": self.goodput_source,
                "goodput_on_spot": goodput_by_band(self.accelerators),
                "hours_between_failures": mtbf,
                "checkpoint_interval_hours": daly_interval(self.saving_hours, mtbf),
                "min_accelerators": self.min_accelerators,
                "energy_kwh": self.energy_kwh,
            }
        )


class RunTask(Protocol):
    """A run on one kind of accelerator, before it is known on how many."""

    @property
    def min_accelerators(self) -> int:
        """Fewest that hold it."""

    def fewest_hours(self, accelerators: int) -> float:
        """Hours that it takes at least on n accelerators; 0 where that is not known."""

    def at(self, accelerators: int | None = None) -> RunSize:
        """The run on n accelerators, or on the usual number for its work."""

    def at_least(self, accelerators: int | None = None) -> RunSize:
        """The same on n or a few more, so that a usual number works."""

    def on_whole_machines(self, accelerators: int | None = None) -> RunSize:
        """The same on machines that can be rented."""

"""Sums of hours and money that know what of them is unknown. PURE."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from pricing.common.pluralize import pluralize

_ZERO = Decimal(0)


@dataclass
class DoubtfulRows:
    """Rows that state more use than their machines could give in their time; they count."""

    rows: int = 0
    first: str = ""

    def add(self, row: str) -> None:
        """A row more, which says where it stands and what it states."""
        self.rows += 1
        self.first = self.first or row

    def warnings(self) -> list[str]:
        if not self.rows:
            return []
        return [
            f"{pluralize(self.rows, 'row')} with more use than machines could give in the time, "
            f"such as {self.first}: counted as written, and doubtful; check the quantity and its "
            "unit."
        ]


class MoneySum:
    """A sum of money that knows how many of its parts are unknown."""

    __slots__ = ("total", "unknown")

    def __init__(self) -> None:
        self.total = _ZERO
        self.unknown = 0

    def add(self, amount: Decimal | None) -> None:
        if amount is None:
            self.unknown += 1
        elif amount:
            self.total += amount

    @property
    def known(self) -> Decimal | None:
        """The sum; None where a part of it is unknown."""
        return None if self.unknown else self.total


class UseSums:
    """Hours and money of one `UseKey`."""

    __slots__ = ("accelerator_hours", "amortised", "billed", "instance_hours", "rows", "unsized")

    def __init__(self) -> None:
        self.rows = 0
        self.instance_hours = 0.0
        self.unsized = 0
        """Rows that state hours of accelerators and no machine."""
        self.accelerator_hours = 0.0
        self.billed = MoneySum()
        self.amortised = MoneySum()

    def add(
        self,
        instance_hours: float | None,
        accelerator_hours: float,
        billed: Decimal | None,
        amortised: Decimal | None,
    ) -> None:
        """Adds one row."""
        self.rows += 1
        if instance_hours is None:
            self.unsized += 1
        else:
            self.instance_hours += instance_hours
        self.accelerator_hours += accelerator_hours
        self.billed.add(billed)
        self.amortised.add(amortised)


class ChargeSums:
    """Money of one `ChargeKey`; `quantity` in whatever unit its rows have."""

    __slots__ = ("amortised", "billed", "credits", "list_cost", "quantity", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self.quantity = 0.0
        self.billed = MoneySum()
        self.amortised = MoneySum()
        self.list_cost = MoneySum()
        self.credits = _ZERO
        """Credits already within `billed`; gross is billed less credits."""

    @property
    def states_money(self) -> bool:
        return bool(self.billed.total or self.amortised.total)


class UnusedSums:
    """Hours that were paid for and not used, and what they cost where a bill says it."""

    __slots__ = ("cost", "currency", "hours", "unstated")

    def __init__(self) -> None:
        self.hours = 0.0
        """Accelerator-hours."""
        self.unstated = 0
        """Rows that state money and no hours."""
        self.cost: MoneySum | None = None
        """None where no row states money."""
        self.currency = ""


class Monitored:
    """Allocated accelerator-hours that a monitor watched, and what they did."""

    __slots__ = ("busy_hours", "hours", "unknown_hours", "utilised_hours")

    def __init__(self) -> None:
        self.hours = 0.0
        self.busy_hours = 0.0
        """Hours in which any kernel ran."""
        self.utilised_hours = 0.0
        """Hours × utilisation."""
        self.unknown_hours = 0.0
        """Hours between samples of which one is missing."""


class Waiting:
    """Waiting times of jobs, in seconds, in classes of a tenth of a power of two."""

    def __init__(self) -> None:
        self.jobs = 0
        self._classes: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        self.jobs += 1
        step = int(seconds).bit_length() if seconds >= 1 else 0
        low = 1 << (step - 1) if step else 0
        tenth = int((seconds - low) * 10 / low) if low else 0
        self._classes[step * 10 + min(tenth, 9)] += 1

    def percentile(self, share: float) -> float | None:
        """Seconds that this share of the jobs waited at most, to a tenth; None without jobs."""
        reached = 0
        for index in sorted(self._classes):
            reached += self._classes[index]
            if reached >= share * self.jobs:
                step, tenth = divmod(index, 10)
                return (1 << (step - 1)) * (1 + (tenth + 1) / 10) if step else 0.0
        return None

"""How old the prices of a provider are, part by part. PURE.

Spot prices move by the week, list prices by the year, so each part of a price list has an age of
its own. The median tells how old a part is; single old prices are listed and colour nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pricing.market.offer_table import UNDATED, OfferTable
from pricing.market.offers import PurchaseOption

_MOST_LISTED = 5


class PricePart(StrEnum):
    """A part of a provider's prices that is read and ages on its own."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    COMMITMENTS = "commitments"


@dataclass(frozen=True)
class AgeLimits:
    """Ages from which prices are amber and red, days."""

    amber: float
    red: float

    def grade(self, age_days: int | None) -> str:
        """green, amber or red; no known age is red.

        >>> [AgeLimits(7, 30).grade(age) for age in (6, 7, 30, None)]
        ['green', 'amber', 'red', 'red']
        """
        if age_days is None or age_days >= self.red:
            return "red"
        return "amber" if age_days >= self.amber else "green"


@dataclass(frozen=True)
class PartDates:
    """When the prices of one part of one provider were seen; those that are sold now."""

    provider: str
    part: PricePart
    count: int
    undated: int
    """Prices whose source carries no date; they count for no age."""
    oldest: dt.date | None
    median: dt.date | None
    """Half of the dated prices are of this day or newer."""
    newest: dt.date | None
    """When a price of this part was last confirmed."""
    oldest_offers: tuple[tuple[str, dt.date], ...]
    """(offer id, day) of the oldest prices, the oldest first."""

    def median_age_days(self, today: dt.date) -> int | None:
        """Age of the median price, days; None where no price is dated."""
        return _age(self.median, today)

    def oldest_age_days(self, today: dt.date) -> int | None:
        """Age of the oldest price, days; None where no price is dated."""
        return _age(self.oldest, today)


def part_of(option: PurchaseOption) -> PricePart:
    """The part that a purchase option belongs to.

    >>> part_of(PurchaseOption.SAVINGS_PLAN).value, part_of(PurchaseOption.CAPACITY_BLOCK).value
    ('commitments', 'on_demand')
    """
    if option.is_commitment:
        return PricePart.COMMITMENTS
    return PricePart.SPOT if option.is_interruptible else PricePart.ON_DEMAND


def date_parts(table: OfferTable) -> Mapping[str, tuple[PartDates, ...]]:
    """Provider → its parts that have prices on sale, in the order of `PricePart`."""
    return {
        name: tuple(_parts(table, name, np.flatnonzero(table.provider.codes == code)))
        for code, name in enumerate(table.provider.names)
    }


def _parts(table: OfferTable, provider: str, rows: NDArray[np.intp]) -> Iterator[PartDates]:
    rows = rows[table.sold_now[rows]]
    parts = [part_of(PurchaseOption(name)) for name in table.purchase_option.names]
    for part in PricePart:
        is_part = np.array([one is part for one in parts], dtype=bool)
        selected = rows[is_part[table.purchase_option.codes[rows]]]
        if not len(selected):
            continue
        dated = selected[table.as_of_day[selected] != UNDATED]
        dated = dated[np.argsort(table.as_of_day[dated], kind="stable")]
        days = [dt.date.fromordinal(day) for day in table.as_of_day[dated].tolist()]
        yield PartDates(
            provider=provider,
            part=part,
            count=len(selected),
            undated=len(selected) - len(dated),
            oldest=days[0] if days else None,
            median=days[len(days) // 2] if days else None,
            newest=days[-1] if days else None,
            oldest_offers=tuple(
                (table.offer(int(row)).id, day)
                for row, day in zip(dated[:_MOST_LISTED], days, strict=False)
            ),
        )


def _age(day: dt.date | None, today: dt.date) -> int | None:
    return None if day is None else max(0, (today - day).days)

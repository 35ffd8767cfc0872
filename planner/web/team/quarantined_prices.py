"""Single quarantined prices as operators see them: what moved, by how much, and its history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from planner.web.common.chart import Chart
from planner.web.market.price_chart import draw_history
from pricing.market.offer_rows import OFFER_COLUMNS, from_row
from pricing.market.offers import Offer
from pricing.models import QuarantinedPrice, Revision

MAX_SHOWN = 20
"""Prices of a provider that are shown with a chart; the others follow when these are decided."""
_COLUMNS_SHOWN = tuple(name for name in OFFER_COLUMNS if name not in ("as_of", "source", "sku"))


@dataclass(frozen=True)
class Difference:
    """One field that is not what it was."""

    field: str
    before: str
    after: str


@dataclass(frozen=True)
class QuarantinedRow:
    row: QuarantinedPrice
    before: Offer
    after: Offer
    differences: tuple[Difference, ...]
    chart: Chart | None

    @property
    def option(self) -> str:
        return self.after.purchase_option.value.replace("_", " ")


@dataclass(frozen=True)
class QuarantinedGroup:
    """What waits of one provider."""

    provider: str
    count: int
    in_force: int
    """Prices of the provider that are sold now."""
    rows: tuple[QuarantinedRow, ...]


def group_by_provider() -> list[QuarantinedGroup]:
    """The prices that wait for a decision, the largest moves of a provider first."""
    waiting = QuarantinedPrice.objects.filter(state=QuarantinedPrice.State.WAITING)
    groups = []
    for provider, of_provider in groupby(waiting.order_by("provider"), lambda row: row.provider):
        rows = sorted(of_provider, key=lambda row: -max(row.ratio, 1 / row.ratio))
        newest = Revision.objects.filter(provider=provider).order_by("-number").first()
        shown = tuple(_build_row(row) for row in rows[:MAX_SHOWN])
        sold = newest.sold_count if newest else 0
        groups.append(QuarantinedGroup(provider, len(rows), sold, shown))
    return groups


def _build_row(row: QuarantinedPrice) -> QuarantinedRow:
    before, after = from_row(row.before), from_row(row.after)
    chart = draw_history(before, proposed=after)
    return QuarantinedRow(
        row,
        before,
        after,
        tuple(
            Difference(name.replace("_", " "), row.before.get(name, ""), row.after.get(name, ""))
            for name in _COLUMNS_SHOWN
            if row.before.get(name, "") != row.after.get(name, "")
        ),
        replace(chart, key=f"quarantined-{row.pk}") if chart else None,
    )

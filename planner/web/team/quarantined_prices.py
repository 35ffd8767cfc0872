"""Single quarantined prices as operators see them: what moved, by how much, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from planner.web.common.chart import Chart
from planner.web.market.price_chart import draw_history
from pricing.catalog import price_histories
from pricing.market.dated_price import DatedPrice
from pricing.market.offer_rows import OFFER_COLUMNS, from_row
from pricing.market.offers import Offer
from pricing.models import QuarantinedPrice
from pricing.revisions import newest_revisions

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
    in_force = {revision.provider: revision.sold_count for revision in newest_revisions()}
    for provider, of_provider in groupby(waiting.order_by("provider"), lambda row: row.provider):
        rows = sorted(of_provider, key=lambda row: -max(row.ratio, 1 / row.ratio))
        histories = price_histories(row.offer_id for row in rows[:MAX_SHOWN])
        shown = tuple(_build_row(row, histories[row.offer_id]) for row in rows[:MAX_SHOWN])
        groups.append(QuarantinedGroup(provider, len(rows), in_force.get(provider, 0), shown))
    return groups


def _build_row(row: QuarantinedPrice, past: Sequence[DatedPrice]) -> QuarantinedRow:
    before, after = from_row(row.before), from_row(row.after)
    chart = draw_history(before, past, proposed=after)
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

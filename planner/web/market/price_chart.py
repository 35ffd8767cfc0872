"""What an offer cost since when, as a chart."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from planner.web.common.chart import Chart, Mark, Series
from pricing.common.pluralize import pluralize
from pricing.market.dated_price import DatedPrice
from pricing.market.offers import Offer


def draw_history(
    offer: Offer,
    past: Sequence[DatedPrice],
    *,
    today: dt.date | None = None,
    proposed: Offer | None = None,
) -> Chart | None:
    """The prices of `offer` by the day from which each held; None where none is known.

    The newest holds until `today` where the offer is still sold. `proposed` is a price that is not
    in force, marked on its day.
    """
    if not past:
        return None
    days = [entry.date.isoformat() for entry in past]
    prices = [
        None if entry.offer is None else float(entry.offer.effective_price_per_hour)
        for entry in past
    ]
    if today is not None and offer.sold_now and past[-1].date < today:
        days.append(today.isoformat())
        prices.append(prices[-1])
    marks: tuple[Mark, ...] = ()
    if proposed is not None and proposed.as_of is not None:
        days.append(proposed.as_of.isoformat())
        prices.append(float(proposed.effective_price_per_hour))
        marks = (Mark(days[-1], float(proposed.effective_price_per_hour), "quarantined"),)
    return Chart(
        key="history",
        title="Price history",
        kind="points",
        x_label="day",
        y_label=f"{offer.currency} per hour",
        unit=offer.currency,
        x=days,
        series=[Series(offer.instance_type, prices, offer.purchase_option.value)],
        marks=marks,
        digits=4,
        summary=f"{pluralize(len(past), 'price')} known, the first of {past[0].date}.",
    )

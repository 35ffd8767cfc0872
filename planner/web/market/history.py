"""What an offer, or the cheapest of each provider, has cost over time."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from planner.contract.amounts import add_months, name_day, shorten_month
from planner.contract.labels import option_name
from planner.web.common.chart import Chart, Series
from planner.web.common.choices import provider_title
from pricing.common.words import capitalize_first, pluralize
from pricing.market.offers import Offer
from pricing.market.snapshot import DatedPrice

BIG_CLOUDS = ("aws", "azure", "gcp")
"""Providers whose histories are published; of the others the catalog has days, not years."""
MONTHS = 24


def draw_history(
    offer: Offer, past: Sequence[DatedPrice], *, today: dt.date | None = None
) -> Chart | None:
    """The prices of `offer` by the day from which each held; None where none is known.

    The newest holds until `today` where the offer is still sold.
    """
    if not past:
        return None
    days = [entry.date for entry in past]
    prices = [
        None if entry.offer is None else float(entry.offer.effective_price_per_hour)
        for entry in past
    ]
    if today is not None and offer.sold_now and past[-1].date < today:
        days.append(today)
        prices.append(prices[-1])
    spread = ", upfront payments spread over the term" if offer.upfront else ""
    return Chart(
        key="history",
        title="Price history",
        kind="points",
        x_label="day",
        y_label=f"{offer.currency} per hour{spread}",
        unit=offer.currency,
        x=days,
        series=[Series(offer.instance_type, prices, offer.purchase_option.value)],
        digits=4,
        summary=f"{pluralize(len(past), 'price')} known, from {name_day(past[0].date)} on.",
    )


def draw_lowest(histories: Iterable[Sequence[DatedPrice]], today: dt.date) -> list[Chart]:
    """For each provider the lowest price of an accelerator-hour that it asked under each purchase
    option, upfront payments spread over the term, at the beginning of each of `MONTHS` months and
    today.

    USD alone; no chart of a provider of which no price is known.
    """
    first = today.replace(day=1)
    days = [*(add_months(first, -back) for back in range(MONTHS - 1, -1, -1)), today]
    lowest: dict[tuple[str, str], list[float | None]] = {}
    for history in histories:
        for key, prices in _price_on(days, history).items():
            known = lowest.setdefault(key, [None] * len(days))
            lowest[key] = [
                min((price for price in pair if price is not None), default=None)
                for pair in zip(known, prices, strict=True)
            ]
    return [
        Chart(
            key=f"lowest-{provider}",
            title=f"{provider_title(provider)}, last two years",
            kind="line",
            x_label="month",
            y_label="USD per accelerator-hour, upfront payments spread over the term",
            unit="USD",
            x=[*(shorten_month(f"{day:%Y-%m}") for day in days[:-1]), "today"],
            series=[
                Series(capitalize_first(option_name(option)), lowest[provider, option], option)
                for of, option in sorted(lowest)
                if of == provider
            ],
            digits=2,
            summary="The cheapest offer of each purchase option; a gap is a time of which no price "
            "is known.",
        )
        for provider in sorted({provider for provider, _ in lowest})
    ]


def _price_on(
    days: Sequence[dt.date], history: Sequence[DatedPrice]
) -> dict[tuple[str, str], list[float | None]]:
    offers = [entry.offer for entry in history if entry.offer and entry.offer.currency == "USD"]
    if not offers:
        return {}
    dates = [entry.date for entry in history]
    places = [bisect_right(dates, day) - 1 for day in days]
    prices = [None if at < 0 else _usd(history[at].offer) for at in places]
    if all(price is None for price in prices):
        return {}
    return {(offers[0].provider, offers[0].purchase_option.value): prices}


def _usd(offer: Offer | None) -> float | None:
    if offer is None or not offer.sold_now or offer.currency != "USD":
        return None
    return float(offer.effective_price_per_hour) / float(offer.accelerator_count)

"""Prices that moved further than prices do: one is quarantined alone, many hold the batch. PURE.

The band of a price is a factor of 5 up or down from what is published. That of an interruptible
price is counted from the lowest and highest of its history, as spot moves more than a list price
does. A price beyond its band is not published: what is published of it stays in force with its
own date until an operator releases the new one. From one price in twenty on the fault is taken
to be the list's, and the batch is held whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import Offer

MAX_PRICE_RATIO = 5.0
"""A price may rise or fall by this factor from one revision to the next."""
MIN_MOVE = 1.25
"""Factor from which on a price that contradicts another is taken to be the one that moved."""
_TOLERANCE = 1 + 1e-9
"""The same for a rise and a fall, rounding of floats aside."""
MAX_OUTLIER_SHARE = 0.05
"""Share of the prices compared that may be outliers before the batch is held whole."""

PriceRange = tuple[float, float]
"""Lowest and highest effective price per hour that an offer ever had, in its own currency."""
PriceRanges = Callable[[Sequence[Offer]], Mapping[str, PriceRange]]
"""Ranges by offer id; an offer without a history is absent."""


@dataclass(frozen=True)
class Outlier:
    """A price beyond its band."""

    offer: Offer
    before: Offer
    ratio: float
    """Price now / price before, in one currency."""

    def describe(self) -> str:
        """The move in words: id, both prices, the ratio."""
        prices = f"{_format_price(self.before)} → {_format_price(self.offer)}"
        return f"{self.offer.id} {prices} (× {self.ratio:.3g})"


def find_outliers(
    offers: Iterable[Offer],
    published: Mapping[str, Offer],
    rates: ExchangeRates,
    read_ranges: PriceRanges,
) -> list[Outlier]:
    """The prices of `offers` beyond their band around `published` (offer id → offer)."""
    moved = [
        Outlier(offer, before, _price_ratio(offer, before, rates))
        for offer in offers
        if (before := published.get(offer.id)) is not None
        and not has_same_price(offer, before)
        and not is_relabelled(offer, before, rates)
    ]
    beyond = [one for one in moved if not _is_within(one.ratio, 1.0, 1.0)]
    spot = [one.before for one in beyond if one.offer.purchase_option.is_interruptible]
    ranges = read_ranges(spot) if spot else {}
    return [one for one in beyond if not _is_usual(one, ranges)]


def find_movers(
    pairs: Iterable[tuple[Offer, Offer]], published: Mapping[str, Offer], rates: ExchangeRates
) -> list[Outlier]:
    """Of each pair that contradicts itself the price that moved further, where that is known.

    Both were published without a contradiction: what moved is at fault, not what stayed.
    """
    movers: dict[str, Outlier] = {}
    for pair in pairs:
        known = [(offer, published[offer.id]) for offer in pair if offer.id in published]
        if len(known) < len(pair):
            continue
        moves = [Outlier(offer, old, _price_ratio(offer, old, rates)) for offer, old in known]
        mover = max(moves, key=lambda one: abs(math.log(one.ratio)))
        if not _is_within(mover.ratio, 1 / MIN_MOVE, MIN_MOVE, factor=1.0):
            movers[mover.offer.id] = mover
    return list(movers.values())


def is_too_many(outliers: Sequence[Outlier], compared: int) -> bool:
    """Whether so many of the `compared` prices are outliers that the list itself is in doubt."""
    return len(outliers) > MAX_OUTLIER_SHARE * compared


def has_same_price(offer: Offer, before: Offer) -> bool:
    """Whether neither price nor currency changed."""
    return offer is before or (
        offer.price_per_hour == before.price_per_hour
        and offer.upfront == before.upfront
        and offer.currency == before.currency
    )


def is_relabelled(offer: Offer, before: Offer, rates: ExchangeRates) -> bool:
    """Whether the currency changed and the number was not converted: as a number it moved less
    than as an amount of money. Its price may have moved a little on the same day."""
    if offer.currency == before.currency:
        return False
    number = float(offer.effective_price_per_hour) / float(before.effective_price_per_hour)
    return abs(math.log(number)) < abs(math.log(_price_ratio(offer, before, rates)))


def _is_usual(one: Outlier, ranges: Mapping[str, PriceRange]) -> bool:
    """Whether the price is within the band around all that it ever was."""
    lowest, highest = ranges.get(one.offer.id, (0.0, 0.0))
    price = float(one.before.effective_price_per_hour)
    if not (lowest and highest and price):
        return False
    return _is_within(one.ratio, min(lowest / price, 1.0), max(highest / price, 1.0))


def _is_within(
    ratio: float, lowest: float, highest: float, factor: float = MAX_PRICE_RATIO
) -> bool:
    """Whether `ratio` is at most the allowed factor beyond `lowest` to `highest`."""
    factor *= _TOLERANCE
    return lowest / factor <= ratio <= highest * factor


def _price_ratio(offer: Offer, before: Offer, rates: ExchangeRates) -> float:
    price_now, price_before = offer.effective_price_per_hour, before.effective_price_per_hour
    if offer.currency == before.currency:
        return float(price_now) / float(price_before)
    return float(
        rates.to_usd(price_now, offer.currency) / rates.to_usd(price_before, before.currency)
    )


def _format_price(offer: Offer) -> str:
    return f"{offer.effective_price_per_hour:.6g} {offer.currency}/h"

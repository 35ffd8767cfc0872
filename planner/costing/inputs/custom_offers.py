"""The request's own offers and exchange rates: as a table, and under the request's limits. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from planner.contract.labels import LIMIT_TITLES
from planner.contract.place_limits import NOWHERE, PLACE_RULES, PlaceLimits
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from planner.contract.request.offers import CustomOffer
from planner.costing.inputs.dominance import EligibleOffers
from planner.costing.inputs.offer_rules import WHOLE_NODE
from pricing.market.accelerators import get as sheet_of
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_table import OfferTable
from pricing.market.offers import Offer

_MISSING = {"regions": "region", "geographies": "known region", "countries": "known country"}
"""Limit on places → what an offer that it does not bind lacks."""
_MAX_LABELS = 5
"""Offers named one by one in a warning."""


@dataclass(frozen=True)
class CustomOfferFilter:
    """Private offers under the limits of their request."""

    request: ComparisonRequest
    table: OfferTable
    """Row `i` is the i-th of its offers."""
    places: PlaceLimits
    """Its limits on their places."""
    throughput: Mapping[str, float]
    """r of each accelerator that can do the work."""

    @property
    def limits(self) -> Constraints:
        """What the request limits."""
        return self.request.constraints

    def rows(self) -> NDArray[np.intp]:
        """Rows that meet every limit; of those on places, an offer without a known place does."""
        admitted = [row for row in range(len(self.table)) if self._admits(row)]
        return np.array(admitted, dtype=np.intp)

    def warnings(self) -> Iterator[str]:
        """Which limits do not bind which offers, and which offers hold too little to be used."""
        limits = self.limits
        yield from self._warn_unbound()
        yield from self._warn_elsewhere()
        most = self.limits.max_term_months
        long = [r for r in range(len(self.table)) if most and self.table.term_months[r] > most]
        if long:
            yield (
                f"{self._labels(long)} left out: {_sentence('max_term_months').lower()} that may "
                f"be signed is {most} month{'' if most == 1 else 's'}."
            )
        fractional = [row for row in range(len(self.table)) if self._accelerators(row) < WHOLE_NODE]
        if fractional and limits.min_accelerators_per_node is None:
            yield (
                f"{self._labels(fractional)} left out: nodes hold at least one whole accelerator, "
                "as a share of a card does not hold the memory of a whole one; a limit of less "
                "than one accelerator per node admits it."
            )

    def _warn_unbound(self) -> Iterator[str]:
        """Which limits do not bind offers of which too little is known."""
        rows = self.rows().tolist()
        free = {}
        if self.limits.providers is not None:
            unnamed = [row for row in rows if self._provider(row) == NOWHERE]
            free["providers"] = ("provider", unnamed)
        for limit in self.places.limits:
            missing = _MISSING[limit.field]
            unknown = [row for row in rows if limit in self.places.unknown_at(*self._place(row))]
            free[limit.field] = (missing, unknown)
        for name, (missing, exempt) in free.items():
            if exempt:
                verb = "has" if len(exempt) == 1 else "have"
                yield (
                    f"{_sentence(name)} does not bind {self._labels(exempt)}, which {verb} "
                    f"no {missing}."
                )

    def _warn_elsewhere(self) -> Iterator[str]:
        """Which offers of these accelerators are left out for where they are; rules before
        `PLACE_RULES` judge by names alone."""
        outside: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in range(len(self.table) if self.request.rules >= PLACE_RULES else 0):
            if self.table.offer(row).accelerator in self.throughput:
                place = self._place(row)
                for limit in self.places.broken_at(*place):
                    outside[self.places.describe(*place), limit.words].append(row)
        for (where, chosen), rows in outside.items():
            yield f"{self._labels(rows)} left out: {where} is outside {chosen}."

    def _admits(self, row: int) -> bool:
        limits, offer = self.limits, self.table.offer(row)
        options, memory = limits.purchase_options, self.table.accelerator_memory_gib[row]
        return (
            offer.accelerator in self.throughput
            and _within(offer.provider, limits.providers)
            and not self.places.broken_at(offer.provider, offer.region)
            and (options is None or offer.purchase_option in options)
            and offer.term_months <= (limits.max_term_months or offer.term_months)
            and self._accelerators(row) >= (limits.min_accelerators_per_node or WHOLE_NODE)
            and not memory < (limits.min_accelerator_memory_gib or 0.0)
            and (limits.interconnect or "").lower() in sheet_of(offer.accelerator).interconnect
        )

    def _accelerators(self, row: int) -> float:
        return float(self.table.accelerator_count[row])

    def _provider(self, row: int) -> str:
        return self.request.custom_offers[row].provider

    def _place(self, row: int) -> tuple[str, str]:
        return self._provider(row), self.request.custom_offers[row].region

    def _labels(self, rows: Sequence[int]) -> str:
        return join_labels([self.request.custom_offers[row].label for row in rows])


def _within(value: str, allowed: Collection[str] | None) -> bool:
    return allowed is None or value == NOWHERE or value in allowed


def join_labels(labels: Sequence[str]) -> str:
    """Names in words, the first few of many.

    >>> join_labels(["a"]), join_labels(["a", "b", "c"])
    ('a', 'a, b and c')
    >>> join_labels(["a"] * 9)
    'a, a, a, a, a and 4 more'
    """
    rest = len(labels) - _MAX_LABELS
    shown = [*labels[:_MAX_LABELS], f"{rest} more"] if rest > 0 else list(labels)
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def build_custom_offer_table(offers: Sequence[CustomOffer]) -> OfferTable:
    """The team's own prices as a table; row `i` is the i-th of them."""
    return OfferTable.from_offers(
        [
            Offer(
                provider=offer.provider,
                region=offer.region,
                instance_type=offer.instance_type or "custom",
                accelerator=resolve(offer.accelerator, f"custom_offers.{i}.accelerator").slug,
                accelerator_count=Fraction(str(offer.accelerator_count)).limit_denominator(1000),
                purchase_option=offer.purchase_option,
                price_per_hour=Decimal(str(offer.usd_per_hour)),
                upfront=Decimal(str(offer.upfront_usd)),
                term_months=offer.term_months or 0,
                zone=offer.label,
                source="request",
            )
            for i, offer in enumerate(offers)
        ]
    )


def merge_exchange_rates(request: ComparisonRequest, catalog_rates: ExchangeRates) -> ExchangeRates:
    """The catalog's exchange rates, replaced by the request's where it sets one."""
    request_rates = {
        currency: (
            ExchangeRate(
                currency, rate.as_of or dt.date.min, Decimal(str(rate.units_per_usd)), "request"
            ),
        )
        for currency, rate in request.exchange_rates.items()
    }
    return (
        ExchangeRates({**catalog_rates.by_currency, **request_rates})
        if request_rates
        else catalog_rates
    )


def convert_prices(
    offers: EligibleOffers, old_rates: ExchangeRates, new_rates: ExchangeRates
) -> EligibleOffers:
    """Dollar prices that were native price / rate before, at the rates after: × before / after."""
    factors = {
        currency: float(old_rates.find(currency).units_per_usd / rates[-1].units_per_usd)
        for currency, rates in new_rates.by_currency.items()
        if currency in old_rates.by_currency and rates is not old_rates.by_currency[currency]
    }
    if not factors:
        return offers
    change = np.array([factors.get(offers.offer(i).currency, 1.0) for i in range(len(offers))])
    return replace(
        offers, usd_per_hour=offers.usd_per_hour * change, upfront_usd=offers.upfront_usd * change
    )


def _sentence(limit: str) -> str:
    """A limit at the start of a sentence."""
    title = LIMIT_TITLES[limit]
    return title[0].upper() + title[1:]

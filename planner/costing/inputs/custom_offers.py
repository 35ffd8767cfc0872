"""What the request brings of its own to the market: private offers and exchange rates. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from planner.contract.request.comparison import ComparisonRequest, CustomOffer
from planner.costing.inputs.dominance import EligibleOffers
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_table import OfferTable
from pricing.market.offers import Offer


def build_custom_offer_table(offers: Sequence[CustomOffer]) -> OfferTable:
    """The team's own prices as a table; row `i` is the i-th of them."""
    return OfferTable.from_offers(
        Offer(
            provider=given.provider,
            region=given.region,
            instance_type=given.instance_type or "custom",
            accelerator=resolve(given.accelerator, f"custom_offers.{i}.accelerator").slug,
            accelerator_count=Fraction(str(given.accelerator_count)).limit_denominator(1000),
            purchase_option=given.purchase_option,
            price_per_hour=Decimal(str(given.usd_per_hour)),
            upfront=Decimal(str(given.upfront_usd)),
            term_months=given.term_months or 0,
            zone=given.label,
            source="request",
        )
        for i, given in enumerate(offers)
    )


def merge_exchange_rates(request: ComparisonRequest, known: ExchangeRates) -> ExchangeRates:
    """`known` with the rates that the request gives in place of those of their currencies."""
    given = {
        currency: (
            ExchangeRate(
                currency, rate.as_of or dt.date.min, Decimal(str(rate.units_per_usd)), "request"
            ),
        )
        for currency, rate in request.exchange_rates.items()
    }
    return ExchangeRates({**known.by_currency, **given}) if given else known


def convert_prices(
    found: EligibleOffers, before: ExchangeRates, after: ExchangeRates
) -> EligibleOffers:
    """Dollar prices that were native price / rate before, at the rates after: × before / after."""
    factors = {
        currency: float(before.find(currency).units_per_usd / rates[-1].units_per_usd)
        for currency, rates in after.by_currency.items()
        if currency in before.by_currency and rates is not before.by_currency[currency]
    }
    if not factors:
        return found
    change = np.array([factors.get(found.offer(i).currency, 1.0) for i in range(len(found))])
    return replace(
        found, usd_per_hour=found.usd_per_hour * change, upfront_usd=found.upfront_usd * change
    )

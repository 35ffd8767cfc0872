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

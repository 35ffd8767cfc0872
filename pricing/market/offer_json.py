"""Offers and their prices as JSON takes them: money as decimal strings, never as floats. PURE."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pricing.common.amounts import quantize
from pricing.market.dated_price import DatedPrice
from pricing.market.snapshot import Catalog, RevisionInfo


def format_amount(amount: Decimal) -> str:
    """An amount to ten places, without exponent or needless zeros."""
    return f"{quantize(amount):f}"


def offer_json(
    published: Catalog, row: int, revision_by_provider: Mapping[str, int]
) -> dict[str, Any]:
    """The offer of a row of the catalog, with the fields of the contract."""
    offer = published.offers.offer(row)
    memory = float(published.offers.accelerator_memory_gib[row])
    units = published.exchange_rates.find(offer.currency).units_per_usd
    return {
        "id": offer.id,
        "provider": offer.provider,
        "region": offer.region,
        "zone": offer.zone,
        "instance_type": offer.instance_type,
        "accelerator": offer.accelerator,
        "accelerator_count": float(offer.accelerator_count),
        "accelerator_memory_gib": None if math.isnan(memory) else memory,
        "vcpus": offer.vcpus,
        "memory_gib": offer.memory_gib,
        "purchase_option": offer.purchase_option.value,
        "term_months": offer.term_months,
        "payment_option": offer.payment_option,
        "usd_per_hour": format_amount(offer.effective_price_per_hour / units),
        "recurring_usd_per_hour": format_amount(offer.price_per_hour / units),
        "usd_per_accelerator_hour": format_amount(offer.price_per_accelerator_hour / units),
        "upfront_usd": format_amount(offer.upfront / units),
        "currency": offer.currency,
        "native_price": format_amount(offer.price_per_hour),
        "sku": offer.sku,
        "sold_now": offer.sold_now,
        "as_of": offer.as_of,
        "source": offer.source,
        "revision": revision_by_provider.get(offer.provider),
    }


def catalog_json(info: RevisionInfo, today: dt.date) -> dict[str, Any]:
    """The revision behind an answer, with the age of its oldest price."""
    return {
        "provider": info.provider,
        "revision": info.revision,
        "as_of": info.as_of,
        "oldest_price_as_of": info.oldest_price_as_of,
        "age_days": info.age_days(today),
    }


def dated_price_json(price: DatedPrice) -> dict[str, Any]:
    """A price from a day on; without amounts from the day on which the offer was gone."""
    offer = price.offer
    return {
        "date": price.date,
        "revision": price.revision,
        "price_per_hour": format_amount(offer.price_per_hour) if offer else None,
        "upfront": format_amount(offer.upfront) if offer else None,
        "currency": offer.currency if offer else None,
        "sold_now": offer.sold_now if offer else False,
        "source": offer.source if offer else "",
    }

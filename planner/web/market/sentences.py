"""Sentences of the market pages that depend on what is known."""

from __future__ import annotations

from django import template

from planner.web.common.choices import value_words
from planner.web.common.formatting import plain, words
from planner.web.market.offers import name_place
from pricing import catalog
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator
from pricing.market.offers import Offer

register = template.Library()


@register.filter
def interconnect(accelerator: Accelerator) -> str:
    link = accelerator.interconnect
    parts = [value_words("interconnect", link) if link else "not known"]
    if accelerator.interconnect_gb_per_s:
        parts.append(f"{plain(accelerator.interconnect_gb_per_s)} GB/s")
    return ", ".join(parts)


@register.filter
def commitment_term(offer: Offer) -> str:
    """How long a commitment binds and how it is paid: `36 months, all upfront`."""
    if not offer.term_months:
        return ""
    payment = f", {words(offer.payment_option)}" if offer.payment_option else ""
    return f"{pluralize(offer.term_months, 'month')}{payment}"


@register.filter
def list_price(offer: Offer) -> str:
    """What a provider asks, in its own currency: `3.2 USD/h and 1,000 USD upfront`."""
    price = f"{plain(offer.price_per_hour)} {offer.currency}/h"
    if not offer.upfront:
        return price
    return f"{price} and {plain(offer.upfront)} {offer.currency} upfront"


@register.filter
def sold_at(offer: Offer) -> str:
    """Cloud and region of an offer as people call them, and the zone where it has one:
    `AWS Europe (Spain), eus2-az2`."""
    return ", ".join(filter(None, (name_place(offer, catalog.current()), offer.zone)))


@register.filter
def offer_name(offer_id: str) -> str:
    """Machine, place and way of paying of an offer: `p5.48xlarge, AWS US East (N. Virginia), on
    demand`; the id itself where the catalog no longer has it."""
    offer = catalog.current().offers.find(offer_id)
    if offer is None:
        return offer_id
    parts = (offer.instance_type, sold_at(offer), words(offer.purchase_option.value))
    return ", ".join((*parts, *filter(None, [commitment_term(offer)])))

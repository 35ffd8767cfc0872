"""Prices whose source carries no date rank behind dated ones that are about as low. PURE.

A price of unknown age may be gone. An undated price p is left out where a dated one of the same
node, purchase option, term and quotas is at most p · (1 + margin); p is then what the team would
be told and could not count on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.costing.inputs.dominance import EligibleOffers, Floats, split_by_equal_values
from pricing.market.offer_table import UNDATED
from pricing.market.offers import HOURS_PER_MONTH


def prefer_dated(offers: EligibleOffers, margin: float) -> EligibleOffers:
    """The offers without undated ones that a dated one within `margin` stands for."""
    is_undated = offers.table.as_of_day[offers.rows] == UNDATED
    if margin <= 0 or not is_undated.any() or is_undated.all():
        return offers
    price = _effective_price(offers)
    is_kept = np.ones(len(offers), dtype=bool)
    keys = (
        offers.option,
        offers.term_months,
        offers.accelerator,
        np.round(offers.accelerator_count * 1e6).astype(np.int64),
        offers.quotas,
        offers.table.provider.codes[offers.rows] * offers.tells_providers_apart,
    )
    for group in split_by_equal_values(np.arange(len(offers)), keys):
        dated = group[~is_undated[group]]
        if len(dated):
            undated = group[is_undated[group]]
            is_kept[undated] = price[undated] * (1 + margin) < price[dated].min()
    return _select(offers, is_kept)


def _effective_price(offers: EligibleOffers) -> Floats:
    """[entry] price of an hour, USD, upfront payments spread over the term."""
    hours = HOURS_PER_MONTH * np.maximum(offers.term_months, 1)
    return np.asarray(offers.usd_per_hour + offers.upfront_usd / hours)


def _select(offers: EligibleOffers, mask: np.ndarray) -> EligibleOffers:
    columns = {
        name: getattr(offers, name)[mask]
        for name in (
            *("rows", "multiplier", "usd_per_hour", "upfront_usd", "term_months", "option"),
            *("capacity", "accelerator", "accelerator_count", "quotas"),
        )
    }
    return replace(offers, **columns)

"""What commitments are below on demand, by what providers sell. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from pricing.market.offers import PurchaseOption

if TYPE_CHECKING:
    from pricing.market.offer_table import OfferTable

Terms = tuple[str, str, int]
"""Provider, purchase option and months of a commitment."""
Discounts = Mapping[Terms, Mapping[str, float]]


def list_discounts(table: OfferTable) -> Mapping[str, Discounts]:
    """Partition → terms → accelerator → median share by which the effective price of a commitment
    is below that on demand of the same machine in the same region. What one part of a cloud gives
    says nothing of another: AWS China's reservations are not those of a commercial account.

    d = 1 − effective price of the commitment / price on demand
    """
    key, option_names = table.machine_codes, table.purchase_option.names
    on_demand = [i for i, name in enumerate(option_names) if name == PurchaseOption.ON_DEMAND]
    rows = np.flatnonzero(np.isin(table.purchase_option.codes, on_demand) & table.sold_now)
    prices: dict[int, float] = {}
    for at, price in zip(
        key[rows].tolist(), table.effective_usd_per_hour[rows].tolist(), strict=True
    ):
        prices[at] = min(price, prices.get(at, price))
    shares: dict[str, dict[Terms, dict[str, list[float]]]]
    shares = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in np.flatnonzero(table.sold_now & (table.term_months > 0)).tolist():
        rent = prices.get(int(key[row]))
        if not rent:
            continue
        name = table.provider.names[table.provider.codes[row]]
        option = option_names[table.purchase_option.codes[row]]
        accelerator = table.accelerator.names[table.accelerator.codes[row]]
        discount = 1.0 - float(table.effective_usd_per_hour[row]) / rent
        terms = name, option, int(table.term_months[row])
        shares[table.partitions[table.place_codes[row]]][terms][accelerator].append(discount)
    return {
        partition: {
            terms: {name: median(some) for name, some in by_accelerator.items()}
            for terms, by_accelerator in by_terms.items()
        }
        for partition, by_terms in shares.items()
    }

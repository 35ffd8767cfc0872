"""What is known of the prices of an accelerator, as a table of providers and purchase options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.contract.answer.coverage import PriceCoverage
from planner.contract.months import name_day
from planner.contract.purchase_options import traits
from planner.web.common.choices import provider_title
from pricing.common.sentences import capitalize_first
from pricing.market.accelerators import get
from pricing.market.coverage import CoverageRow, PriceState
from pricing.market.offers import PurchaseOption
from pricing.market.sold_options import sold_options

Coverage = CoverageRow | PriceCoverage
"""A row as the market or an answer has it; the fields are the same."""


@dataclass(frozen=True)
class CoverageTable:
    """A row for each accelerator and provider, a cell for each purchase option."""

    columns: tuple[str, ...]
    rows: tuple[CoverageTableRow, ...]


@dataclass(frozen=True)
class CoverageTableRow:
    accelerator: str
    provider: str
    cells: tuple[Coverage | None, ...]
    """None where the provider is known to have no such purchase option."""


def arrange_coverage(rows: Iterable[Coverage]) -> CoverageTable:
    """Rows of coverage as a table; options that nobody has are left out.

    >>> h100 = "nvidia-h100-80gb-sxm", "aws"
    >>> table = arrange_coverage([CoverageRow(*h100, "spot", PriceState.PRICED, count=3)])
    >>> table.columns, table.rows[0].provider, table.rows[0].cells[0].count
    (('Spot',), 'AWS', 3)

    What no price and no source speaks of is not known, such as terms of a smaller cloud.

    >>> denvr = CoverageRow(h100[0], "denvr", "on_demand", PriceState.PRICED, count=1)
    >>> reserved = CoverageRow(*h100, "reserved", PriceState.SOLD_PRICE_UNKNOWN)
    >>> first, _ = arrange_coverage([denvr, reserved]).rows
    >>> [describe_state(cell) for cell in first.cells]
    ['1 price, undated', 'not known']
    """
    by_key = {(row.accelerator, row.provider, row.purchase_option): row for row in rows}
    present = {option for _, _, option in by_key}
    options = [option.value for option in PurchaseOption if option.value in present]
    pairs = dict.fromkeys((accelerator, provider) for accelerator, provider, _ in by_key)
    return CoverageTable(
        columns=tuple(capitalize_first(traits(option).label) for option in options),
        rows=tuple(
            CoverageTableRow(
                get(accelerator).name,
                provider_title(provider),
                tuple(
                    by_key.get(key := (accelerator, provider, option)) or _without_row(*key)
                    for option in options
                ),
            )
            for accelerator, provider in pairs
        ),
    )


def _without_row(accelerator: str, provider: str, option: str) -> CoverageRow | None:
    """Of a combination that has no row: None where sources speak of the provider, which has a row
    for all that it sells, else that it is not known."""
    if (provider, option) in sold_options():
        return None
    return CoverageRow(accelerator, provider, option, PriceState.UNKNOWN)


def describe_state(row: Coverage | None) -> str:
    """A cell in words.

    >>> describe_state(CoverageRow("a", "b", "spot", PriceState.PRICED, count=1200))
    '1,200 prices, undated'
    >>> describe_state(None)
    'not sold'
    """
    if row is None or row.state == PriceState.NOT_SOLD:
        return "not sold"
    if row.state == PriceState.SOLD_PRICE_UNKNOWN:
        return "sold, price not known"
    if row.state == PriceState.UNKNOWN:
        return "not known"
    prices = f"{row.count:,} price{'' if row.count == 1 else 's'}"
    if row.newest is None:
        return f"{prices}, undated"
    span = " to ".join(dict.fromkeys(map(name_day, filter(None, (row.oldest, row.newest)))))
    undated = f", {row.undated:,} undated" if row.undated else ""
    return f"{prices}, {span}{undated}"

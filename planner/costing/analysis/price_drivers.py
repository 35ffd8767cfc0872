"""Which price process moves which offer, commitment and server of a comparison. PURE.

A price has the process of its accelerator family and way of paying (`price_processes`):

- on demand of AWS, Azure and Google Cloud: list prices; of others: rents of GPU clouds
- commitments: with the list prices of their family and provider, on the same clock
- spot, low priority: by region, from today's share of the price on demand
- servers, to buy and to sell: hardware

Processes of one family and provider change lists together; all share the downturns of
`price_processes.draw`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.price_processes.process import KINDS, PriceKind, PriceProcess
from planner.costing.price_processes.table import find_process
from pricing.market.offers import PurchaseOption

CLOUDS = frozenset({"aws", "azure", "gcp"})
"""Providers whose prices on demand are lists that rarely change."""


@dataclass(frozen=True)
class PriceDrivers:
    """Distinct processes, and the one of each source that has a price."""

    processes: tuple[PriceProcess, ...]
    of_source: Mapping[str, int]
    """source key → index of its process."""


def find_drivers(inputs: ModelInputs, keys: Collection[str] | None = None) -> PriceDrivers:
    """The processes of sources, equal ones once, in the order of keys; by default of all."""
    processes: dict[PriceProcess, int] = {}
    of_source: dict[str, int] = {}
    on_demand = _on_demand_prices(inputs.sources)
    year, edition = inputs.calendar.start.year, int(inputs.assumptions["price_process_edition"])
    for key, source in sorted(inputs.by_key.items()):
        if source.accelerator and (keys is None or key in keys):
            process = _find_process(source, on_demand, year, edition)
            of_source[key] = processes.setdefault(process, len(processes))
    return PriceDrivers(tuple(processes), of_source)


_Place = tuple[str, str, str]
"""Provider, region ("" for all) and accelerator."""


def _on_demand_prices(sources: Iterable[CapacitySource]) -> dict[_Place, float]:
    """Lowest price on demand of one accelerator, by place and by provider."""
    lowest: dict[_Place, float] = {}
    for source in sources:
        if source.purchase_option != PurchaseOption.ON_DEMAND or not source.price_per_hour:
            continue
        price = source.price_per_hour / source.accelerators
        for region in (source.region, ""):
            place = (source.provider, region, source.accelerator)
            lowest[place] = min(price, lowest.get(place, price))
    return lowest


def _find_process(
    source: CapacitySource, on_demand: Mapping[_Place, float], year: int, edition: int
) -> PriceProcess:
    if source.is_owned:
        return find_process(source.accelerator, PriceKind.HARDWARE, year)
    kind = _find_kind(source)
    process = find_process(source.accelerator, kind, year, edition)
    if kind is not PriceKind.SPOT:
        return replace(process, place=source.provider)
    places = ((source.provider, region, source.accelerator) for region in (source.region, ""))
    price = next((on_demand[place] for place in places if place in on_demand), 0.0)
    if price and source.price_per_hour:
        process = process.at_discount(source.price_per_hour / source.accelerators / price)
    return replace(process, place=f"{source.provider}/{source.region}")


def _find_kind(source: CapacitySource) -> PriceKind:
    kind = KINDS[PurchaseOption(source.purchase_option)]
    if kind is PriceKind.LIST and source.provider not in CLOUDS:
        return PriceKind.MARKET
    return kind

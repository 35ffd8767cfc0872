"""Offers as columns of numbers, for searching and costing. PURE.

Names (provider, region, …) are coded as integers, money is float64 US dollars. Row `i` of every
column is the offer `table.offer(i)`, whose exact `Decimal` price stays untouched. Rows of one
accelerator are found through an index, so that a search reads only them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pricing.market import accelerators as market_accelerators
from pricing.market import machine_types
from pricing.market.clouds import find_partition
from pricing.market.discounts import Discounts, list_discounts
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.interruptions import find_interruption_band
from pricing.market.offers import HOURS_PER_MONTH, Offer

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
UNDATED = 0
"""Day of a price whose source carries no date."""
DatasheetLookup = Callable[[str], tuple[float, str]]
"""accelerator slug → (memory of one whole accelerator in GiB, interconnect)."""


def lookup_datasheet(accelerator: str) -> tuple[float, str]:
    """Memory (GiB) and interconnect of an accelerator; (NaN, "") for one that is not known."""
    try:
        known = market_accelerators.get(accelerator)
    except KeyError:
        return float("nan"), ""
    memory = float("nan") if known.memory_gib is None else float(known.memory_gib)
    return memory, known.interconnect or ""


def _network_gbps(offer: Offer) -> float:
    if offer.network_gbps is not None:
        return offer.network_gbps
    machine_type = machine_types.find(offer.provider, offer.instance_type)
    stated = None if machine_type is None else machine_type.network_gbps
    return float("nan") if stated is None else stated


@dataclass(frozen=True)
class CodedColumn:
    """A column of names as integers: row `i` is called `names[codes[i]]`."""

    names: tuple[str, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, values: Iterable[str]) -> CodedColumn:
        """Code `values` in order of first appearance.

        >>> CodedColumn.of(["b", "a", "b"]).codes.tolist()
        [0, 1, 0]
        """
        code_by_value: dict[str, int] = {}
        codes = np.fromiter(
            (code_by_value.setdefault(v, len(code_by_value)) for v in values), dtype=np.int32
        )
        return cls(tuple(code_by_value), codes)

    @cached_property
    def code_by_name(self) -> Mapping[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    def match_names(self, names: Collection[str]) -> NDArray[np.bool_]:
        """[code] whether it is one of `names`; a name that no row carries matches nothing."""
        flags = np.zeros(len(self.names), dtype=bool)
        flags[[self.code_by_name[name] for name in names if name in self.code_by_name]] = True
        return flags

    @cached_property
    def groups(self) -> tuple[Rows, ...]:
        """[code] the rows that carry it, in row order."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=len(self.names)))
        return tuple(np.split(order, ends[:-1])) if len(self.names) else ()


@dataclass(frozen=True)
class OfferTable:
    """Columns over the offers of a catalog; every array has one entry per offer."""

    offers: Sequence[Offer]
    provider: CodedColumn
    region: CodedColumn
    geography: CodedColumn
    instance_type: CodedColumn
    accelerator: CodedColumn
    purchase_option: CodedColumn
    accelerator_count: Floats
    """Accelerators of one machine; a sixth of a card is 0.1667."""
    accelerator_memory_gib: Floats
    """Memory of one accelerator, or of the share of one that is sold; NaN where not known."""
    interconnect: CodedColumn
    usd_per_hour: Floats
    """Recurring price of the machine, USD/h."""
    upfront_usd: Floats
    """Due once when a commitment begins, USD."""
    effective_usd_per_hour: Floats
    """usd_per_hour + upfront_usd / (730 · term_months), USD/h."""
    usd_per_accelerator_hour: Floats
    """effective_usd_per_hour / accelerator_count, USD/h."""
    term_months: NDArray[np.int32]
    sold_now: NDArray[np.bool_]
    as_of_day: NDArray[np.int64]
    """Day of the price as an ordinal number (`datetime.date.toordinal`); 0 where it has none."""
    ids: Mapping[str, int] = field(default_factory=dict, repr=False)

    @classmethod
    def from_offers(
        cls,
        offers: Iterable[Offer],
        exchange_rates: ExchangeRates | None = None,
        geographies: Mapping[tuple[str, str], str] | None = None,
        datasheet: DatasheetLookup = lookup_datasheet,
    ) -> OfferTable:
        """Columns of `offers`, row `i` being the i-th of them.

        `geographies` maps (provider, region) to a geography. Other currencies are converted
        with the last rate of `exchange_rates`; `InvalidInput` where there is none.
        """
        rows = tuple(offers)
        rates = exchange_rates or ExchangeRates()
        region_geographies = geographies or {}
        accelerator = CodedColumn.of(o.accelerator for o in rows)
        datasheets = [datasheet(name) for name in accelerator.names]
        currency = CodedColumn.of(o.currency for o in rows)
        per_usd = _to_float_array(float(rates.find(name).units_per_usd) for name in currency.names)
        units = per_usd[currency.codes]
        count = _to_float_array(float(o.accelerator_count) for o in rows)
        usd = _to_float_array(float(o.price_per_hour) for o in rows) / units
        upfront = _to_float_array(float(o.upfront) for o in rows) / units
        term = np.fromiter((o.term_months for o in rows), dtype=np.int32)
        effective = usd + upfront / (HOURS_PER_MONTH * np.maximum(term, 1))
        memory = _to_float_array(memory for memory, _ in datasheets)[accelerator.codes]
        links = CodedColumn.of(link for _, link in datasheets)
        return cls(
            offers=rows,
            provider=CodedColumn.of(o.provider for o in rows),
            region=CodedColumn.of(o.region for o in rows),
            geography=CodedColumn.of(
                region_geographies.get((o.provider, o.region), "") for o in rows
            ),
            instance_type=CodedColumn.of(o.instance_type for o in rows),
            accelerator=accelerator,
            purchase_option=CodedColumn.of(o.purchase_option.value for o in rows),
            accelerator_count=count,
            accelerator_memory_gib=memory * np.minimum(count, 1.0),
            interconnect=CodedColumn(links.names, links.codes[accelerator.codes]),
            usd_per_hour=usd,
            upfront_usd=upfront,
            effective_usd_per_hour=effective,
            usd_per_accelerator_hour=effective / count,
            term_months=term,
            sold_now=np.fromiter((o.sold_now for o in rows), dtype=bool),
            as_of_day=np.fromiter(
                (o.as_of.toordinal() if o.as_of else UNDATED for o in rows), dtype=np.int64
            ),
            ids={o.id: i for i, o in enumerate(rows)},
        )

    def __len__(self) -> int:
        return len(self.offers)

    def offer(self, row: int) -> Offer:
        return self.offers[row]

    @cached_property
    def places(self) -> tuple[tuple[str, str], ...]:
        _, first = np.unique(_combine(self.provider, self.region), return_index=True)
        return tuple((self.offers[row].provider, self.offers[row].region) for row in first.tolist())

    @cached_property
    def place_codes(self) -> Rows:
        """[row] number of its provider and region together."""
        return _number(_combine(self.provider, self.region))

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        return tuple(find_partition(provider, region) for provider, region in self.places)

    @cached_property
    def machine_codes(self) -> Rows:
        """[row] number of its machine in its place, below the number of rows."""
        return _number(_combine(self.provider, self.region, self.instance_type))

    @cached_property
    def sold_terms(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """(provider, purchase option) → terms under which anything is on sale, months."""
        terms: dict[tuple[str, str], set[int]] = defaultdict(set)
        for row in np.flatnonzero(self.sold_now & (self.term_months > 0)).tolist():
            offer = self.offers[row]
            terms[offer.provider, offer.purchase_option.value].add(offer.term_months)
        return {key: frozenset(months) for key, months in terms.items()}

    @cached_property
    def discounts(self) -> Mapping[str, Discounts]:
        """What commitments are below on demand, by partition."""
        return list_discounts(self)

    @cached_property
    def network_gbps(self) -> Floats:
        """Network of each row's machine as its offer or its datasheet states it, Gbit/s; NaN where
        nobody does."""
        return _to_float_array(map(_network_gbps, self.offers))

    @cached_property
    def interruptions_per_month(self) -> Floats:
        """Interruptions published for each row's machine and region; NaN where none are."""
        bands = (find_interruption_band(o.provider, o.region, o.instance_type) for o in self.offers)
        return _to_float_array(
            float("nan") if band is None else band.interruptions_per_month for band in bands
        )

    def find(self, offer_id: str) -> Offer | None:
        row = self.ids.get(offer_id)
        return None if row is None else self.offers[row]

    def select(
        self,
        providers: Collection[str] = (),
        regions: Collection[str] = (),
        geographies: Collection[str] = (),
        accelerators: Collection[str] = (),
        purchase_options: Collection[str] = (),
        *,
        instance_types: Collection[str] = (),
        min_accelerator_memory_gib: float | None = None,
        min_accelerators_per_node: float | None = None,
        accelerator_count: float | None = None,
        interconnect: str | None = None,
        sold_now: bool | None = True,
    ) -> Rows:
        """Rows that meet every condition, in row order; an empty collection limits nothing.

        `accelerators` are slugs. `interconnect` matches a part of the name, whatever its case.
        `sold_now=None` gives offers of retired machines too.
        """
        rows = self._rows_of_accelerators(accelerators)
        links: Collection[str] = ()
        if interconnect is not None:
            part = interconnect.lower()
            links = [name for name in self.interconnect.names if part in name.lower()] or [part]
        for column, names in (
            (self.provider, providers),
            (self.region, regions),
            (self.geography, geographies),
            (self.purchase_option, purchase_options),
            (self.instance_type, instance_types),
            (self.interconnect, links),
        ):
            if names:
                rows = rows[column.match_names(names)[column.codes[rows]]]
        if min_accelerators_per_node is not None:
            rows = rows[self.accelerator_count[rows] >= min_accelerators_per_node]
        if accelerator_count is not None:
            rows = rows[np.isclose(self.accelerator_count[rows], accelerator_count, rtol=1e-3)]
        if min_accelerator_memory_gib is not None:
            rows = rows[self.accelerator_memory_gib[rows] >= min_accelerator_memory_gib]
        if sold_now is not None:
            rows = rows[self.sold_now[rows] == sold_now]
        return rows

    def cheapest(self, rows: Rows, limit: int | None = None, prices: Floats | None = None) -> Rows:
        """`rows` by price, the cheapest first, at most `limit` of them; ties in row order.

        The price is that of an accelerator-hour unless another column is given.
        """
        prices = (self.usd_per_accelerator_hour if prices is None else prices)[rows]
        if limit is not None and 0 < limit < len(rows):
            highest_kept_price = np.partition(prices, limit - 1)[limit - 1]
            rows, prices = rows[prices <= highest_kept_price], prices[prices <= highest_kept_price]
        return rows[np.argsort(prices, kind="stable")][:limit]

    def _rows_of_accelerators(self, names: Collection[str]) -> Rows:
        if not names:
            return np.arange(len(self.offers))
        codes = sorted({self.accelerator.code_by_name.get(name, -1) for name in names} - {-1})
        if not codes:
            return np.empty(0, dtype=np.intp)
        groups = [self.accelerator.groups[code] for code in codes]
        return groups[0] if len(groups) == 1 else np.sort(np.concatenate(groups))


def _combine(*columns: CodedColumn) -> NDArray[np.int64]:
    combined = np.zeros(len(columns[0].codes), dtype=np.int64)
    for column in columns:
        combined = combined * len(column.names) + column.codes
    return combined


def _number(values: NDArray[np.int64]) -> Rows:
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def _to_float_array(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)

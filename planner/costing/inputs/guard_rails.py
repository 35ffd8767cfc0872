"""What a plan may choose from unless the request says otherwise. PURE.

A practitioner would not sign an answer that rents in a partition the team has no account for,
runs CUDA code on other accelerators, or commits to a machine its cloud does not sell. Each rule
is a value of the request with a default, so that it can be lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.labels import LIMIT_TITLES
from planner.contract.request.rules import ANY, PlanRules
from pricing.market.accelerators import find_software
from pricing.market.offer_table import CodedColumn, OfferTable
from pricing.market.offers import PurchaseOption
from pricing.market.places import CLOUD_PARTITIONS, PARTITIONS, find_partition
from pricing.market.snapshot import Region

Rows = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class GuardRails:
    """The rules of a request as rules on the catalog's offers; offers of its own are exempt."""

    rules: PlanRules
    countries: frozenset[str] = frozenset()
    """ISO 3166-1 codes of the countries that may be used; empty: all."""
    regions: Mapping[tuple[str, str], Region] = field(default_factory=dict)

    def rows(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` that every rule admits."""
        for admitted in self.admitted(table, rows).values():
            rows = np.intersect1d(rows, admitted, assume_unique=True)
        return rows

    def admitted(self, table: OfferTable, rows: Rows) -> dict[str, Rows]:
        """Name of each rule in force → those of `rows` that it admits."""
        admitted = self._admitted_places(table, rows)
        if self.rules.software != ANY:
            admitted[LIMIT_TITLES["software"]] = rows[self._runs_software(table, rows)]
        if self.rules.needs_on_demand_price:
            is_sold = _is_sold_on_demand(table, rows)
            admitted["the need for a machine that is sold on demand too"] = rows[is_sold]
        return admitted

    def rows_in_places(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` in the places that may be used, whatever machine they are."""
        for admitted in self._admitted_places(table, rows).values():
            rows = np.intersect1d(rows, admitted, assume_unique=True)
        return rows

    def runs_on(self, accelerator: str) -> bool:
        """Whether an accelerator runs the software of the request."""
        return self.rules.software in (ANY, find_software(accelerator))

    def _admitted_places(self, table: OfferTable, rows: Rows) -> dict[str, Rows]:
        admitted = {}
        if set(self.rules.partitions) != set(PARTITIONS):
            is_in = self._match_places(table, rows, self._is_in_partition)
            # Edition 1 knows no other clouds: where there are none the rule is not one of its.
            if not is_in.all() or self.rules.partitions != CLOUD_PARTITIONS:
                admitted[LIMIT_TITLES["partitions"]] = rows[is_in]
        if self.countries:
            is_in = self._match_places(table, rows, self._is_in_countries)
            admitted[LIMIT_TITLES["countries"]] = rows[is_in]
        return admitted

    def _is_in_partition(self, provider: str, region: str) -> bool:
        return find_partition(provider, region) in self.rules.partitions

    def _is_in_countries(self, provider: str, region: str) -> bool:
        place = self.regions.get((provider, region))
        return place is not None and place.country in self.countries

    def _match_places(
        self, table: OfferTable, rows: Rows, is_allowed: Callable[[str, str], bool]
    ) -> Bools:
        places, codes = _combine((table.provider, table.region), rows)
        return np.array([is_allowed(*place) for place in places], dtype=bool)[codes]

    def _runs_software(self, table: OfferTable, rows: Rows) -> Bools:
        flags = [self.runs_on(slug) for slug in table.accelerator.names]
        return np.array(flags, dtype=bool)[table.accelerator.codes[rows]]


def _is_sold_on_demand(table: OfferTable, rows: Rows) -> Bools:
    """[row] no commitment, or one to a machine sold on demand in the same region."""
    options = table.purchase_option
    commitments = [o.value for o in PurchaseOption if o.is_commitment]
    is_commitment = options.match_names(commitments)[options.codes[rows]]
    columns = (table.provider, table.region, table.instance_type)
    everywhere = np.flatnonzero(
        options.match_names([PurchaseOption.ON_DEMAND.value])[options.codes] & table.sold_now
    )
    sold = _machine_codes(columns, everywhere)
    return np.asarray(~is_commitment | np.isin(_machine_codes(columns, rows), sold))


def _machine_codes(columns: Collection[CodedColumn], rows: Rows) -> NDArray[np.int64]:
    """[row] one whole number for each combination of names."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        code = code * len(column.names) + column.codes[rows]
    return code


def _combine(
    columns: tuple[CodedColumn, CodedColumn], rows: Rows
) -> tuple[list[tuple[str, str]], NDArray[np.intp]]:
    """The distinct pairs of names among `rows`, and [row] which of them it has."""
    one, other = columns
    distinct, codes = np.unique(_machine_codes(columns, rows), return_inverse=True)
    size = max(len(other.names), 1)
    return [(one.names[c // size], other.names[c % size]) for c in distinct.tolist()], codes

"""What a plan may choose from unless the request says otherwise. PURE.

A practitioner would not sign an answer that rents in a partition the team has no account for,
runs CUDA code on other accelerators, or commits to a machine its cloud does not sell. Each rule
is a value of the request with a default, so that it can be lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.labels import LIMIT_TITLES
from planner.contract.place_limits import PlaceLimit, PlaceLimits
from planner.contract.request.rules import ANY, PlanRules
from pricing.market.accelerators import find_software
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption
from pricing.market.places import CLOUD_PARTITIONS, PARTITIONS, find_partition

Rows = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class GuardRails:
    """The rules of a request as rules on the catalog's offers; offers of its own are exempt."""

    rules: PlanRules
    places: PlaceLimits = field(default_factory=PlaceLimits)
    """The limits on places."""

    def rows(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` that every rule admits."""
        return _admitted_by_all(rows, self._masks(table, rows))

    def admitted(self, table: OfferTable, rows: Rows) -> dict[str, Rows]:
        """Name of each rule in force, limits on places left out → those of `rows` that it
        admits."""
        masks = self._masks_of_parts(table, rows) | self._masks_of_machines(table, rows)
        return {name: rows[mask] for name, mask in masks.items()}

    def rows_in(self, table: OfferTable, rows: Rows, limit: PlaceLimit) -> Rows:
        """Those of `rows` that keep to one limit on places."""
        return rows[self._is_in(table, rows, limit)]

    def rows_in_places(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` in the places that may be used, whatever machine they are."""
        return _admitted_by_all(rows, self._masks_of_places(table, rows))

    def runs_on(self, accelerator: str) -> bool:
        """Whether an accelerator runs the software of the request."""
        return self.rules.software in (ANY, find_software(accelerator))

    def _masks(self, table: OfferTable, rows: Rows) -> list[Bools]:
        masks = self._masks_of_machines(table, rows)
        return [*self._masks_of_places(table, rows), *masks.values()]

    def _masks_of_machines(self, table: OfferTable, rows: Rows) -> dict[str, Bools]:
        masks = {}
        if self.rules.software != ANY:
            masks[LIMIT_TITLES["software"]] = self._runs_software(table, rows)
        if self.rules.needs_on_demand_price:
            is_sold = _is_sold_on_demand(table, rows)
            masks["the need for a machine that is sold on demand too"] = is_sold
        return masks

    def _masks_of_places(self, table: OfferTable, rows: Rows) -> list[Bools]:
        chosen = [self._is_in(table, rows, limit) for limit in self.places.limits]
        return [*self._masks_of_parts(table, rows).values(), *chosen]

    def _masks_of_parts(self, table: OfferTable, rows: Rows) -> dict[str, Bools]:
        masks = {}
        if set(self.rules.partitions) != set(PARTITIONS):
            is_in = self._match_places(table, rows, self._is_in_partition)
            # Edition 1 knows no other clouds: where there are none the rule is not one of its.
            if not is_in.all() or self.rules.partitions != CLOUD_PARTITIONS:
                masks[LIMIT_TITLES["partitions"]] = is_in
        return masks

    def _is_in_partition(self, provider: str, region: str) -> bool:
        return find_partition(provider, region) in self.rules.partitions

    def _is_in(self, table: OfferTable, rows: Rows, limit: PlaceLimit) -> Bools:
        alone = PlaceLimits((limit,), self.places.regions)
        return self._match_places(table, rows, alone.admits)

    def _match_places(
        self, table: OfferTable, rows: Rows, is_allowed: Callable[[str, str], bool]
    ) -> Bools:
        codes = table.place_codes[rows]
        is_present = np.bincount(codes, minlength=len(table.places)) > 0
        pairs = zip(table.places, is_present.tolist(), strict=True)
        flags = [present and is_allowed(*place) for place, present in pairs]
        return np.array(flags, dtype=bool)[codes]

    def _runs_software(self, table: OfferTable, rows: Rows) -> Bools:
        flags = [self.runs_on(slug) for slug in table.accelerator.names]
        return np.array(flags, dtype=bool)[table.accelerator.codes[rows]]


def _is_sold_on_demand(table: OfferTable, rows: Rows) -> Bools:
    """[row] no commitment, or one to a machine sold on demand in the same region."""
    options = table.purchase_option
    commitments = [o.value for o in PurchaseOption if o.is_commitment]
    is_commitment = options.match_names(commitments)[options.codes[rows]]
    everywhere = np.flatnonzero(
        options.match_names([PurchaseOption.ON_DEMAND.value])[options.codes] & table.sold_now
    )
    is_sold = np.zeros(len(table), dtype=bool)  # [machine], of which there are no more than rows
    is_sold[table.machine_codes[everywhere]] = True
    return np.asarray(~is_commitment | is_sold[table.machine_codes[rows]])


def _admitted_by_all(rows: Rows, masks: Iterable[Bools]) -> Rows:
    is_admitted = np.ones(len(rows), dtype=bool)
    for mask in masks:
        is_admitted &= mask
    return rows[is_admitted]

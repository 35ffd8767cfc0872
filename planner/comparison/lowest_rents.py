"""What the accelerators of an estimate rent for where a plan of its request may rent. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.contract.accelerator_names import find_software
from planner.contract.answer.estimate import EstimateAnswer, EstimateCandidate
from planner.contract.request.comparison import ComparisonRequest, read_request
from planner.contract.request.rules import ANY, limit_places, resolve_rules
from planner.costing.inputs.job_nodes import JobNodes
from planner.costing.inputs.offer_rules import Filters, GuardRails
from planner.sizing.candidates.other_chips import with_prices
from planner.sizing.demand import Candidate
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import find
from pricing.market.offer_table import OfferTable, Rows
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Catalog


def price_estimate(
    answer: EstimateAnswer, request: Mapping[str, Any], catalog: Catalog
) -> tuple[EstimateAnswer, LowestRents]:
    """The estimate with the lowest prices on demand that a plan of `request` may take,
    and what sells at them."""
    rents = LowestRents.read(request, catalog, answer.candidates)
    return with_prices(answer, rents.usd_per_hour, rents.at_work), rents


_ANY_WORK = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1}
"""Stands for work that no plan can be read from: where a plan may rent does not depend on it."""


@dataclass(frozen=True)
class LowestRents:
    """Offers on demand that a plan may take: in its places, under its limits, on machines that
    hold its jobs or join them. Software that is not stated stays open, as it is what the
    accelerator decides."""

    offers: OfferTable
    request: ComparisonRequest
    rails: GuardRails
    nodes: JobNodes

    @staticmethod
    def read(
        request: Mapping[str, Any], catalog: Catalog, candidates: Sequence[EstimateCandidate]
    ) -> LowestRents:
        """Of a plan's request, or of a workload alone, whose plan keeps to the usual rules."""
        plan = next(_readable(request))
        rules = resolve_rules(plan)
        rails = GuardRails(rules, limit_places(plan, catalog.regions))
        # A run keeps as many busy at once as its candidate says: the throughput is of that size.
        sized = tuple(
            Candidate(one.accelerator, 1 / max(one.accelerators or 1, 1), one.min_accelerators or 1)
            for one in candidates
        )
        nodes = JobNodes(rules, sized, run_width=1.0)
        return LowestRents(catalog.offers, plan, rails, nodes)

    def rows(self, accelerator: str) -> Rows:
        """Rows of the catalog that sell it."""
        limits = self.request.constraints
        is_sold = PurchaseOption.ON_DEMAND in (limits.purchase_options or PurchaseOption)
        if not is_sold or not self._may_take(accelerator):
            return np.empty(0, dtype=np.intp)
        on_demand = (PurchaseOption.ON_DEMAND.value,)
        filters = replace(Filters.of(limits, (accelerator,)), purchase_options=on_demand)
        rows = self.rails.rows_in_places(self.offers, filters.rows(self.offers))
        return self.nodes.fitting(self.offers, rows)

    def _may_take(self, accelerator: str) -> bool:
        software = self.request.workload.software
        known = self.request.constraints.accelerators or ()
        named = {one.slug for one in map(find, known) if one}
        is_named = not named or accelerator in named
        return is_named and software in (None, ANY, find_software(accelerator))

    def at_work(self, accelerator: str, used: int) -> int:
        """Accelerators of the machines at the lowest price that hold `used`: a run takes all of
        them and ends sooner, unless the plan says what a job takes."""
        rows = self.rows(accelerator)
        if not self.nodes.fills_machines or not len(rows):
            return used
        prices = self.offers.usd_per_accelerator_hour[rows]
        counts = np.maximum(self.offers.accelerator_count[rows[prices <= prices.min()]], 1.0)
        return int((np.ceil(used / counts) * counts).min())

    def usd_per_hour(self, accelerator: str) -> float | None:
        """The lowest price of an accelerator-hour, USD; None where a plan may rent none."""
        best = self.offers.cheapest(self.rows(accelerator), 1)
        return float(self.offers.usd_per_accelerator_hour[best[0]]) if len(best) else None


def _readable(request: Mapping[str, Any]) -> Iterator[ComparisonRequest]:
    named = {name: request[name] for name in ("workload", "constraints") if name in request}
    work = {"workload": named["workload"]} if "workload" in named else {}
    any_work = {"workload": _ANY_WORK}
    for one in (named, named | any_work, work, any_work):
        with suppress(InvalidInput):
            yield read_request(one)

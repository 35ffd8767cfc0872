"""Quotas that count whole machines: offers of which not one machine fits are left out. PURE.

A provider counts a machine as soon as it runs, so that no share of a month makes one of eight
accelerators fit into a quota of four.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.request.comparison import ComparisonRequest
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.inputs.offer_rules import QuotaRule, Rows, match_quota
from planner.costing.optimizer.problem import Quota
from pricing.market.accelerators import resolve
from pricing.market.offer_table import OfferTable

IN_MACHINES = 2
"""Edition from which a quota counts whole machines."""


@dataclass(frozen=True)
class StatedQuotas:
    """The quotas of a request, each as a rule on offers and as a limit of the optimiser."""

    rules: tuple[QuotaRule, ...] = ()
    quotas: tuple[Quota, ...] = ()

    @classmethod
    def read(cls, request: ComparisonRequest, assumptions: Assumptions) -> StatedQuotas:
        """Those of a request, each under a name of its own."""
        in_machines = request.rules > 1 and assumptions["quota_edition"] >= IN_MACHINES
        rules: list[QuotaRule] = []
        for i, quota in enumerate(request.constraints.quotas):
            slug = resolve(quota.accelerator, f"constraints.quotas.{i}.accelerator").slug
            place = f"{quota.provider}/{quota.region}" if quota.region else quota.provider
            same_name = sum(rule.group.startswith(f"{place} {slug}") for rule in rules)
            group = f"{place} {slug}" + (f" ({same_name + 1})" if same_name else "")
            rules.append(QuotaRule(group, quota.provider, quota.region, slug))
        stated = zip(rules, request.constraints.quotas, strict=True)
        quotas = (Quota(r.group, q.max_accelerators, in_machines=in_machines) for r, q in stated)
        return cls(tuple(rules), tuple(quotas))

    def are_beyond(self, table: OfferTable, rows: Rows) -> NDArray[np.bool_]:
        """[row] whether one machine has more accelerators than a quota that counts it."""
        beyond = np.zeros(len(rows), dtype=bool)
        for _, _, of_it in self._beyond_each(table, rows):
            beyond |= of_it
        return beyond

    def count_beyond(self, table: OfferTable, rows: Rows) -> Iterator[tuple[str, int]]:
        """Each quota that is smaller than machines that it counts, in words, and how many offers
        that are."""
        for rule, quota, of_it in self._beyond_each(table, rows):
            if of_it.any():
                yield f"{rule.words} ({quota.most:g})", int(of_it.sum())

    def _beyond_each(
        self, table: OfferTable, rows: Rows
    ) -> Iterator[tuple[QuotaRule, Quota, NDArray[np.bool_]]]:
        for rule, quota in zip(self.rules, self.quotas, strict=True):
            if quota.in_machines:
                is_larger = table.accelerator_count[rows] > quota.most
                yield rule, quota, match_quota(table, rows, rule) & is_larger

    def warnings(self, table: OfferTable, rows: Rows) -> Iterator[str]:
        """Warnings on the offers that are left out."""
        for words, count in self.count_beyond(table, rows):
            offers = "1 offer, which is" if count == 1 else f"{count:,} offers, which are"
            yield f"The {words} is smaller than one machine of {offers} left out."

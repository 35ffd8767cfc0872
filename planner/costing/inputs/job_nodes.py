"""Which machines one job can run on: large enough, and joined well enough. PURE.

A job of n accelerators runs on nodes of at least min(n, `LARGEST_NODE`) of them. An order of
`MANY_ACCELERATORS` or more that says nothing of its jobs is for whole nodes of what fast links
join. A job over several nodes needs machines with a network for it, of at least
`LEAST_NETWORK_GBPS`. A machine whose network nobody states has one if it holds `LARGEST_NODE`
accelerators, as such machines are built for it, or is an offer of the team's own, which it knows;
a smaller one has none. Nothing is taken for granted of smaller clouds and marketplaces: their large
machines may stand by themselves.
Machines of a rack (trays of 4 in an NVL72) are one node of all that the rack joins: a cloud places
those of one job in one rack (Azure, ND GB200 v6, 2026).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property
from planner.contract.request.rules import LARGEST_NODE, PlanRules
from planner.sizing.demand import Candidate
from planner.sizing.footprint.memory import RACK_DOMAIN, fast_domain
from pricing.market.accelerators import get as sheet_of
from pricing.market.clouds import CLOUD_PARTITIONS
from pricing.market.offer_table import OfferTable

Floats = NDArray[np.float64]

Rows = NDArray[np.intp]

LEAST_NETWORK_GBPS = 100.0
"""Network of a machine that jobs over many nodes run on, Gbit/s: what the first cloud machines sold
for distributed training had (AWS p3dn.24xlarge, 2018)."""


@dataclass(frozen=True)
class JobNodes:
    """The machines that hold the jobs of a work."""

    rules: PlanRules
    candidates: tuple[Candidate, ...]
    """Accelerators that can do the work."""
    run_width: float = 0.0
    """Reference accelerators that sized runs keep busy at once; 0 for given hours."""

    @cached_property
    def widths(self) -> dict[str, float]:
        """Accelerators of each kind that work together: those of one job, and of all that a sized
        run spreads its data over."""
        return {
            c.accelerator: max(
                float(self.job_sizes[c.accelerator]), self.run_width / c.relative_throughput
            )
            for c in self.candidates
        }

    @cached_property
    def job_sizes(self) -> dict[str, int]:
        """Accelerators of each kind that one job takes."""
        return {c.accelerator: self.rules.job_size(c.min_accelerators) for c in self.candidates}

    @cached_property
    def packed_sizes(self) -> dict[str, int]:
        """Accelerators in whose multiples the work fills machines: those of a job, or 1 where a
        sized run spreads over all that its machines have."""
        return dict.fromkeys(self.job_sizes, 1) if self._may_spread else self.job_sizes

    @property
    def fills_machines(self) -> bool:
        """Whether runs take every accelerator of the machines that they rent, however few hold
        them; not where parts of machines are rented, which are as large as is needed."""
        return self._may_spread and self.rules.whole_nodes

    @property
    def _may_spread(self) -> bool:
        rules = self.rules
        return rules.is_sized and not rules.states_job and rules.accelerators_per_job <= 1

    @cached_property
    def min_accelerators(self) -> dict[str, float]:
        """Least accelerators of a node that serves one job: what the job takes, up to as many as
        a fast interconnect joins; 0 where one is enough."""
        least = {
            c.accelerator: float(
                max(
                    1 if self.rules.any_node else min(self.job_sizes[c.accelerator], LARGEST_NODE),
                    min(c.min_accelerators, fast_domain(sheet_of(c.accelerator))),
                )
            )
            for c in self.candidates
        }
        return {
            slug: count if count > 1 and _joined_in_rack(slug) == 1 else 0.0
            for slug, count in least.items()
        }

    def spreads(self, slug: str, per_node: float) -> bool:
        """Whether a job takes more than one node, and so needs a network between them; shares of a
        card count as the card."""
        return self.rules.needs_network and self.widths.get(slug, 1.0) > max(per_node, 1.0)

    def fitting(self, table: OfferTable, rows: Rows, is_own: bool = False) -> Rows:
        """Those of `rows` whose nodes hold one job, or join the nodes of one that is larger;
        `is_own` for offers of the team's own."""
        return self.joined(table, self.large_enough(table, rows, is_own), is_own)

    def large_enough(self, table: OfferTable, rows: Rows, is_own: bool = False) -> Rows:
        """Those of `rows` whose nodes hold one job, or as much of it as a node has to; of a large
        order those of the catalog that are whole nodes of linked accelerators."""
        names = table.accelerator.names
        least = self.min_accelerators
        if self.rules.links_nodes and not is_own:
            linked = {c.accelerator: fast_domain(sheet_of(c.accelerator)) for c in self.candidates}
            whole = {slug: float(min(n, LARGEST_NODE)) for slug, n in linked.items()}
            least = {
                slug: max(n, whole[slug] * (_joined_in_rack(slug) == 1))
                for slug, n in least.items()
            }
        min_per_node = np.array([least.get(name, 0.0) for name in names])
        if len(rows) and min_per_node.any():
            per_node = table.accelerator_count[rows]
            rows = rows[per_node >= min_per_node[table.accelerator.codes[rows]]]
        return rows

    def joined(self, table: OfferTable, rows: Rows, is_own: bool = False) -> Rows:
        """Those of `rows` that hold a job by themselves, or have a network to the others."""
        if not self.rules.needs_network or not len(rows):
            return rows
        names = table.accelerator.names
        width = np.array([self.widths.get(name, 1.0) for name in names], dtype=np.float64)
        in_rack = np.array([_joined_in_rack(name) for name in names], dtype=np.float64)
        codes = table.accelerator.codes[rows]
        is_spread = width[codes] > np.maximum(table.accelerator_count[rows], in_rack[codes])
        if not is_spread.any():
            return rows
        is_kept = np.ones(len(rows), dtype=bool)
        is_kept[is_spread] = _has_network(table, rows[is_spread], is_own)
        return np.asarray(rows[is_kept])

    def lacks_link(self, candidate: Candidate) -> str:
        """Why the layout of the work does not fit an accelerator, "" where it does."""
        joined = fast_domain(sheet_of(candidate.accelerator))
        if self.rules.any_node or candidate.tensor_parallel <= joined:
            return ""
        return (
            f"its layout splits every layer over {candidate.tensor_parallel} accelerators, and the "
            f"fast interconnect joins {joined} (constraints.allow_any_node lifts it)"
        )


def _joined_in_rack(slug: str) -> int:
    """Accelerators that the machines of a rack join as one node; 1 where a machine is a node."""
    return RACK_DOMAIN if fast_domain(sheet_of(slug)) == RACK_DOMAIN else 1


def _has_network(table: OfferTable, rows: Rows, is_own: bool) -> NDArray[np.bool_]:
    machine = table.machine_codes[rows]
    first = np.zeros(len(table), dtype=np.intp)  # [machine] its first row among `rows`
    first[machine[::-1]] = rows[::-1]
    row = first[machine]
    gbps, per_node = table.network_gbps[row], table.accelerator_count[row]
    of_clouds = np.array([name in CLOUD_PARTITIONS for name in table.partitions], dtype=bool)
    is_large = is_own | ((per_node >= LARGEST_NODE) & of_clouds[table.place_codes[row]])
    return np.asarray(np.where(np.isnan(gbps), is_large, gbps >= LEAST_NETWORK_GBPS))


def usable_accelerators(count: Floats | float, job_size: Floats | float) -> Floats:
    """Accelerators of a node that jobs of j can use: ⌊n / j⌋ · j where a job fits a node of n, else
    j / ⌈j / n⌉, as a larger job takes whole nodes.

    >>> usable_accelerators(np.array([8.0, 8.0, 0.5]), np.array([3.0, 12.0, 1.0])).tolist()
    [6.0, 6.0, 0.5]
    """
    counts, jobs = np.asarray(count, dtype=np.float64), np.asarray(job_size, dtype=np.float64)
    packed = np.floor(counts / jobs) * jobs
    spread = jobs / np.ceil(jobs / np.maximum(counts, 1e-9))
    return np.where((counts < 1) | (jobs <= 1), counts, np.where(counts >= jobs, packed, spread))

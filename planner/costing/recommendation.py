"""The advice in words: what to do, what it saves, and why. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from planner.costing.break_even import BreakEven
from planner.costing.results import Scenario, ScenarioKey
from planner.costing.scenarios import Project, feasible
from planner.costing.source import Source

SCENARIO_NAMES = {
    ScenarioKey.ON_DEMAND: "renting on demand",
    ScenarioKey.SPOT: "renting spot",
    ScenarioKey.COMMITTED: "committing",
    ScenarioKey.CLOUD_MIX: "mixing commitments, on demand and spot",
    ScenarioKey.ON_PREM: "owning",
    ScenarioKey.HYBRID: "owning and renting together",
}
NEGLIGIBLE = Decimal("0.0001")
"""Share of the cost under which two scenarios count as the same: 0.01 %."""


@dataclass(frozen=True)
class Recommendation:
    """The cheapest scenario by net present cost, and what it rests on."""

    scenario: ScenarioKey | None
    saving: Decimal
    """Net present cost that it saves against `next_best`."""
    next_best: ScenarioKey | None
    """The cheapest scenario with another plan."""
    because: tuple[str, ...]


def recommend(
    scenarios: Mapping[ScenarioKey, Scenario],
    project: Project,
    break_even: Sequence[BreakEven],
    currency: str,
) -> Recommendation:
    """The scenario of least net present cost; of scenarios that cost the same the one that
    uses the fewest ways of buying."""
    ranked = feasible(scenarios)
    if not ranked:
        return Recommendation(None, Decimal("0.00"), None, ("No scenario is feasible.",))
    edge = ranked[0].net_present_cost + abs(ranked[0].net_present_cost) * NEGLIGIBLE
    best = min(
        (s for s in ranked if s.net_present_cost <= edge),
        key=lambda s: list(ScenarioKey).index(s.key),
    )
    other = next((s for s in ranked if s.net_present_cost > edge), None)
    saving = other.net_present_cost - best.net_present_cost if other else Decimal("0.00")
    because = [*_what(best, project), *_saving(best, other, saving, currency)]
    because += _against_on_demand(best, scenarios, currency)
    because += _pays_back(best, break_even)
    because += _proof(best)
    return Recommendation(best.key, saving, other.key if other else None, tuple(because))


def _what(best: Scenario, project: Project) -> Iterator[str]:
    """What the plan does, the largest purchases first."""
    for key, begun in best.begun.items():
        source = project.by_key[key]
        verb = "Buy" if source.is_owned else "Commit to"
        starts = [
            f"{int(begun[m])} in {project.calendar.month(m):%Y-%m}"
            for m in np.flatnonzero(begun).tolist()
        ]
        many = "" if len(starts) <= 6 else f" and {len(starts) - 6} more starts"
        yield f"{verb} {source.label}: {', '.join(starts[:6])}{many}."
    rented = [project.by_key[key] for key in best.used_hours if project.by_key[key].term is None]
    for source in rented:
        yield f"Rent {_share(best, source)} of the hours from {source.label}."


def _share(best: Scenario, source: Source) -> str:
    served = float(best.used_hours[source.key].sum()) * source.capacity
    share = served / float(best.served_hours.sum())
    return f"{share:.0%}" if share >= 0.01 else "less than 1 %"


def _saving(
    best: Scenario, other: Scenario | None, saving: Decimal, currency: str
) -> Iterator[str]:
    if other is None:
        yield f"Present value {best.net_present_cost:,.0f} {currency}; no other plan is feasible."
        return
    yield (
        f"Present value {best.net_present_cost:,.0f} {currency}, {saving:,.0f} {currency} less "
        f"than {SCENARIO_NAMES[other.key]}, the next best."
    )


def _against_on_demand(
    best: Scenario, scenarios: Mapping[ScenarioKey, Scenario], currency: str
) -> Iterator[str]:
    rent = scenarios[ScenarioKey.ON_DEMAND]
    if rent.feasible and rent.net_present_cost > best.net_present_cost:
        saved = rent.net_present_cost - best.net_present_cost
        share = float(saved) / float(rent.net_present_cost)
        yield f"That is {saved:,.0f} {currency} ({share:.0%}) less than renting on demand alone."


def _pays_back(best: Scenario, break_even: Sequence[BreakEven]) -> Iterator[str]:
    """When the server that matters pays back against renting on demand."""
    on_demand = [b for b in break_even if b.purchase_option == "on_demand"]
    owned = [key.partition(":")[2] for key in best.begun if key.startswith("server:")]
    for row in on_demand:
        if row.hours is None or (owned and row.server not in owned):
            continue
        yield (
            f"{row.server} has paid for itself against on demand after {row.hours:,.0f} hours of "
            f"use ({row.months_at_full_use:,.1f} months without a break)."
        )
        return


def _proof(best: Scenario) -> Iterator[str]:
    yield f"Proven: no plan from these offers and servers is more than {best.gap:.2%} cheaper."

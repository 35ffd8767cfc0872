"""Tables of an answer: what to buy and when, outcomes, energy, owning against renting by two.

Plain arrangements of the answer's own figures, so that a table never disagrees with a chart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.answer.energy import ScenarioEnergy
from planner.contract.answer.risk import CostRange
from planner.contract.answer.scenario import Purchase, ScenarioAnswer, SourceCost
from planner.contract.labels import SCENARIO_TITLES
from planner.contract.months import format_month

PURCHASE_VERBS: Mapping[str, str] = {
    "server": "bought",
    "commitment": "committed",
    "capacity_block": "reserved by date",
}


@dataclass(frozen=True)
class PurchaseRow:
    """One purchase of the shown plan, with its months written out."""

    purchase: Purchase
    month: str
    first: str
    last: str

    @property
    def how(self) -> str:
        """Bought, committed to or reserved by date."""
        return PURCHASE_VERBS[self.purchase.kind]


@dataclass(frozen=True)
class SourceRow:
    """An offer or server of the shown plan with what it costs altogether."""

    cost: SourceCost
    offer: OfferUsed | None


@dataclass(frozen=True)
class RiskRow:
    """A scenario over the simulated outcomes: its range, how often it is cheapest, its regret."""

    title: str
    range: CostRange
    probability_cheapest: float | None
    regret: Decimal | None
    is_best: bool


@dataclass(frozen=True)
class EnergyRow:
    """Energy and carbon of one scenario."""

    title: str
    energy: ScenarioEnergy

    @property
    def kg_co2e(self) -> float | None:
        """Carbon of the grids that are known, None where none is."""
        return self.energy.kg_co2e_of_known_grid

    @property
    def is_unknown(self) -> bool:
        """Whether none of the energy comes from a grid that we know."""
        return self.kg_co2e is None

    @property
    def sources(self) -> list[str]:
        """Where the carbon figures come from, each once."""
        names = (source.carbon_source for source in self.energy.sources)
        return list(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True)
class GridCell:
    """Owning less renting at one utilisation and price."""

    difference: Decimal | None

    @property
    def winner(self) -> str:
        if self.difference is None:
            return "not known"
        return "own" if self.difference < 0 else "rent"

    @property
    def saving(self) -> Decimal | None:
        """What the cheaper of the two saves."""
        return None if self.difference is None else abs(self.difference)


@dataclass(frozen=True)
class Grid:
    """When owning is the cheaper: a row for each utilisation, a column for each price."""

    server: str
    against: str
    factors: tuple[float, ...]
    rows: tuple[tuple[float, tuple[GridCell, ...]], ...]


def purchase_rows(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> list[PurchaseRow]:
    """What a plan buys, commits to and reserves, in order of months."""

    def written(index: int) -> str:
        return format_month(answer.month(index))

    return [
        PurchaseRow(one, written(one.month), written(one.first), written(one.last))
        for one in scenario.purchases
    ]


def source_rows(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> list[SourceRow]:
    """Offers and servers behind a plan, the dearest first."""
    return [SourceRow(one, answer.offers.get(one.offer_id)) for one in scenario.costs_by_source]


def risk_rows(answer: ComparisonAnswer) -> list[RiskRow]:
    """One row for each scenario that was simulated."""
    risk = answer.risk
    if risk is None:
        return []
    ranges = ((key, risk.range_of(key)) for key in ScenarioKey)
    return [
        RiskRow(
            title=SCENARIO_TITLES[key],
            range=one,
            probability_cheapest=risk.probability_cheapest.get(key),
            regret=risk.regret.get(key),
            is_best=key == answer.recommendation.scenario,
        )
        for key, one in ranges
        if one is not None
    ]


def energy_rows(answer: ComparisonAnswer) -> list[EnergyRow]:
    """Energy and carbon of each feasible scenario."""
    return [EnergyRow(SCENARIO_TITLES[s.key], s.energy) for s in answer.feasible if s.energy]


def price_grid(answer: ComparisonAnswer) -> Grid | None:
    """The two-way grid with the names of what is compared in it."""
    grid = answer.price_grid
    if grid is None:
        return None
    rows = zip(grid.utilisations, grid.difference, strict=True)
    return Grid(
        server=answer.labels.get(grid.server, grid.server),
        against=answer.labels.get(grid.against, grid.against),
        factors=grid.price_factors,
        rows=tuple((use, tuple(map(GridCell, costs))) for use, costs in rows),
    )

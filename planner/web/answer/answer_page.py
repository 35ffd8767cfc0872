"""A comparison as the answer page shows it: sentences, cards, charts and tables of one answer.

Works on the answer alone, so that a fresh one and a saved one look the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from django.http import QueryDict

from planner.contract.answer.break_even import BreakEvenRow
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.demand import DemandAnswer
from planner.contract.answer.risk import CostRange
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.web.answer import charts, tables
from planner.web.answer.assumption_rows import AssumptionRow, kept_address, rows_of
from planner.web.common.chart import Chart


@dataclass(frozen=True)
class Card:
    """One scenario in a line each: total, present value, rate, risk."""

    key: str
    title: str
    scenario: ScenarioAnswer
    is_best: bool
    saving: Decimal | None
    """Against renting on demand; None where that is not feasible."""
    risk: CostRange | None
    probability_cheapest: float | None

    @property
    def extra(self) -> Decimal | None:
        """What it costs more than renting on demand."""
        return None if self.saving is None else -self.saving


class AnswerPage:
    """What the answer's templates draw. `shown` is the scenario whose plan is laid out."""

    def __init__(
        self, answer: ComparisonAnswer, shown: str = "", query: QueryDict | None = None
    ) -> None:
        self.answer = answer
        self.query = query
        self.currency = answer.currency
        self.recommendation = answer.recommendation
        self.recommended = answer.recommended
        chosen = answer.by_key[ScenarioKey(shown)] if shown in SCENARIO_TITLES else self.recommended
        self.shown = chosen if chosen and chosen.feasible else None
        likely = answer.risk.probability_cheapest if answer.risk else {}
        best = answer.recommendation.scenario
        self.certainty = likely.get(best) if best else None

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        return self.recommendation.headline

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything else that is said for it."""
        return self.recommendation.reasons

    @cached_property
    def cards(self) -> list[Card]:
        return [self._card(scenario) for scenario in self.answer.scenarios]

    def _card(self, scenario: ScenarioAnswer) -> Card:
        key, risk = scenario.key, self.answer.risk
        is_rent = key is ScenarioKey.ON_DEMAND
        return Card(
            key=key.value,
            title=SCENARIO_TITLES[key],
            scenario=scenario,
            is_best=key is self.recommendation.scenario,
            saving=None if is_rent else scenario.saving_against_on_demand,
            risk=risk.range_of(key) if risk else None,
            probability_cheapest=risk.probability_cheapest.get(key) if risk else None,
        )

    @cached_property
    def charts(self) -> list[Chart]:
        if not self.shown:
            return []
        drawn = [
            charts.cumulative(self.answer),
            charts.capacity(self.answer, self.shown),
            charts.categories(self.answer),
            charts.hours_curve(self.answer),
            charts.tornado(self.answer, self.shown.require_total()),
            charts.fan(self.answer),
        ]
        return [chart for chart in drawn if chart is not None]

    @property
    def places(self) -> list[tuple[Chart, bool]]:
        """Charts, and whether each takes a whole line: the first, and one left over."""
        last = len(self.charts) - 1
        return [(c, i == 0 or (i == last and i % 2 == 1)) for i, c in enumerate(self.charts)]

    @cached_property
    def purchases(self) -> list[tables.PurchaseRow]:
        """What the shown plan buys, when and for how much."""
        return tables.purchase_rows(self.answer, self.shown) if self.shown else []

    @cached_property
    def sources(self) -> list[tables.SourceRow]:
        """Offers and servers behind the shown plan, the dearest first."""
        return tables.source_rows(self.answer, self.shown) if self.shown else []

    @cached_property
    def risk_rows(self) -> list[tables.RiskRow]:
        return tables.risk_rows(self.answer)

    @cached_property
    def energy(self) -> list[tables.EnergyRow]:
        return tables.energy_rows(self.answer)

    @cached_property
    def grid(self) -> tables.Grid | None:
        return tables.price_grid(self.answer)

    @property
    def limits_and_switches(self) -> tuple[str, ...]:
        """What each limit costs, and where the recommendation changes."""
        explanation = self.answer.explanation
        return explanation.limits_and_switches if explanation else ()

    @property
    def asks_to_explain(self) -> bool:
        return bool(self.query and self.query.get("explain"))

    @property
    def demand(self) -> DemandAnswer:
        """Hours of the whole plan with their range, and the highest peak."""
        return self.answer.demand

    @property
    def break_even(self) -> tuple[BreakEvenRow, ...]:
        """When each server pays for itself."""
        return self.answer.break_even

    @cached_property
    def assumptions(self) -> list[AssumptionRow]:
        """Every assumption with the field that changes it."""
        return rows_of(self.answer)

    @property
    def kept_address(self) -> list[tuple[str, str]]:
        """Names and values of the address that the assumption rows do not hold themselves."""
        return kept_address(self.query or QueryDict(), self.assumptions)

    @cached_property
    def warnings(self) -> list[str]:
        """Those of the answer, then those of the shown plan, each once."""
        own = self.shown.warnings if self.shown else ()
        return list(dict.fromkeys([*self.answer.warnings, *own]))

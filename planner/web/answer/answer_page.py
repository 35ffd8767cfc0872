"""A comparison as the answer page shows it: words, cards, charts and tables of one document.

Works on the answer's dict alone, so that a fresh answer and a saved one look the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.contract.labels import SCENARIO_TITLES
from planner.web.answer import charts, tables
from planner.web.answer.assumption_rows import AssumptionRow, kept_address, rows_of
from planner.web.common.chart import Chart

Scenario = Mapping[str, Any]


@dataclass(frozen=True)
class Card:
    """One scenario in a line each: total, present value, rate, risk."""

    key: str
    title: str
    scenario: Scenario
    is_best: bool
    saving: Decimal | None
    """Against renting on demand; None where that is not feasible."""
    risk: Mapping[str, Any] | None
    probability_cheapest: float | None

    @property
    def extra(self) -> Decimal | None:
        """What it costs more than renting on demand."""
        return None if self.saving is None else -self.saving


class AnswerPage:
    """What the answer's templates draw. `shown` is the scenario whose plan is laid out."""

    def __init__(
        self, answer: Mapping[str, Any], shown: str = "", query: QueryDict | None = None
    ) -> None:
        self.answer = answer
        self.query = query
        self.currency = answer["currency"]
        self.recommendation = answer["recommendation"]
        self.scenarios = {scenario["key"]: scenario for scenario in answer["scenarios"]}
        wanted = self.scenarios.get(shown or self.recommendation.get("scenario") or "")
        self.shown = wanted if wanted and wanted["feasible"] else None
        self.recommended = self.scenarios.get(self.recommendation.get("scenario") or "")
        likely = (answer.get("risk") or {}).get("probability_cheapest") or {}
        self.certainty = likely.get(self.recommendation.get("scenario"))

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        because = self.recommendation["because"]
        return str(because[0]) if because else "Nothing fits."

    @property
    def reasons(self) -> list[str]:
        """Everything else that is said for it."""
        return list(self.recommendation["because"][1:])

    @cached_property
    def cards(self) -> list[Card]:
        return [self._card(scenario) for scenario in self.answer["scenarios"]]

    def _card(self, scenario: Scenario) -> Card:
        key = scenario["key"]
        rent = self.scenarios.get("on_demand")
        comparable = rent is not None and rent["feasible"] and scenario["feasible"]
        saving = (
            Decimal(rent["total_cost"]) - Decimal(scenario["total_cost"])
            if comparable and rent is not None
            else None
        )
        risk = self.answer.get("risk") or {}
        likely = (risk.get("probability_cheapest") or {}).get(key)
        spread = risk.get(key)
        return Card(
            key=key,
            title=SCENARIO_TITLES[key],
            scenario=scenario,
            is_best=key == self.recommendation.get("scenario"),
            saving=saving if key != "on_demand" else None,
            risk=spread if isinstance(spread, Mapping) else None,
            probability_cheapest=None if likely is None else float(likely),
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
            charts.tornado(self.answer, Decimal(self.shown["total_cost"])),
            charts.fan(self.answer),
        ]
        return [chart for chart in drawn if chart is not None]

    @property
    def places(self) -> list[tuple[Chart, bool]]:
        """Charts, and whether each takes a whole line: the first, and one left over."""
        last = len(self.charts) - 1
        return [(c, i == 0 or (i == last and i % 2 == 1)) for i, c in enumerate(self.charts)]

    @cached_property
    def purchases(self) -> list[tables.Purchase]:
        """What the shown plan begins, when and for how much."""
        return tables.purchases_of(self.answer, self.shown) if self.shown else []

    @cached_property
    def used(self) -> list[tables.UsedOffer]:
        """Offers and servers behind the shown plan, the dearest first."""
        return tables.used_of(self.answer, self.shown) if self.shown else []

    @cached_property
    def futures(self) -> list[tables.FutureRow]:
        return tables.futures_of(self.answer)

    @cached_property
    def energy(self) -> list[tables.EnergyRow]:
        return tables.energy_of(self.answer)

    @cached_property
    def grid(self) -> tables.Grid | None:
        return tables.grid_of(self.answer)

    @property
    def explained(self) -> list[str]:
        """What limits cost and where the advice turns; what is begun has its own table."""
        found = self.answer.get("explanation") or {}
        return list(found.get("words", [])[len(found.get("purchases", [])) :])

    @property
    def asks_to_explain(self) -> bool:
        return bool(self.query and self.query.get("explain"))

    @cached_property
    def demand(self) -> dict[str, Any]:
        """Hours of the whole plan with their range, and the highest peak."""
        found = self.answer["demand"]
        hours = sum(float(value) for value in found["hours_per_month"])
        spread = found["range"]
        return {
            "accelerator": found["accelerator"],
            "hours": hours,
            "low": hours * float(spread["p10"]),
            "high": hours * float(spread["p90"]),
            "peak": max((float(value) for value in found["peak_accelerators"]), default=0.0),
            "method": found["method"],
        }

    @property
    def break_even(self) -> list[dict[str, Any]]:
        """Rows with the words of the offer that each server is held against."""
        offers = self.answer["offers"]
        return [
            {**row, "label": offers.get(row["against"], {}).get("label") or row["against"]}
            for row in self.answer.get("break_even") or []
        ]

    @cached_property
    def assumptions(self) -> list[AssumptionRow]:
        """Every assumption with the box that changes it."""
        return rows_of(self.answer)

    @property
    def kept_address(self) -> list[tuple[str, str]]:
        """Names and values of the address that the assumption rows do not hold themselves."""
        return kept_address(self.query or QueryDict(), self.assumptions)

    @cached_property
    def warnings(self) -> list[str]:
        """Those of the answer, then those of the shown plan, each once."""
        own = self.shown["warnings"] if self.shown else []
        return list(dict.fromkeys([*self.answer["warnings"], *own]))

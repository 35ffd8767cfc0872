"""The scenarios that a comparison finds, and which of them may be advised. PURE."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from planner.comparison_steps.explain_scenarios import explain_scenarios
from planner.comparison_steps.preparation import Preparation
from planner.contract.answer.common import ScenarioKey
from planner.contract.request.attempts import Run
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.workload import AcceleratorHours
from planner.costing.advice.payback import best_without_buying, why_not_bought
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.paying_purchases import buy_fewer_servers
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import is_allowed, solve_scenarios
from planner.sizing.demand import Demand

PREPARATION_UNITS, SOURCE_MONTH_UNITS = 10_000, 2.0
"""Units of work for what every comparison does, and for a month of a source."""
SCENARIO_SHARE, EXPLANATION_SHARE, ANALYSIS_SHARE, SMALL_SHARE = 0.6, 0.5, 0.7, 0.2
"""Share of the work left that the scenarios may search with, then each of the analyses."""


@dataclass(frozen=True)
class Sooner:
    """Runs that are done sooner than they have to be."""

    preparation: Preparation
    """The question as it was asked."""
    total: Decimal | None
    """What the plan costs that spreads them over the months to their deadlines; None without one
    that keeps to the limits."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs as they were asked for."""
        workload = self.preparation.request.workload
        return () if isinstance(workload, AcceleratorHours) else workload.runs or ()


@dataclass(frozen=True)
class ScenarioResults:
    """The scenarios of one comparison, and which of them may be advised."""

    preparation: Preparation
    work: WorkMeter = field(default_factory=WorkMeter)
    """What may be spent, on the scenarios first."""
    parts: dict[str, WorkMeter] = field(default_factory=dict)
    """Shares of it by what they are for."""
    report: Report = nobody_waits
    """Told how many of the simulated outcomes are costed."""
    sooner: Sooner | None = None
    """Where its runs are done sooner than asked for; None where they are laid out as asked."""

    @property
    def request(self) -> ComparisonRequest:
        """What is compared."""
        return self.preparation.request

    @property
    def demand(self) -> Demand:
        """Hours and peak of each month."""
        return self.preparation.demand

    @property
    def inputs(self) -> ModelInputs:
        """Everything that the plans are made from."""
        return self.preparation.inputs

    @property
    def calendar(self) -> Calendar:
        """Months of the plan."""
        return self.preparation.calendar

    @cached_property
    def solved_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """The cheapest plan of each way to buy, with what it owes later or why there is none."""
        self.charge_preparation()
        part = self.parts["scenarios"] = self.work.share(SCENARIO_SHARE, stops=False)
        return explain_scenarios(solve_scenarios(self.inputs, part), self.preparation)

    @cached_property
    def scenarios(self) -> dict[ScenarioKey, Scenario]:
        """The same; where not all servers of the widest way pay back, with those that do."""
        return {**self.solved_scenarios, **self._fewer_servers}

    @cached_property
    def _fewer_servers(self) -> dict[ScenarioKey, Scenario]:
        """The widest way with the servers that pay back, where others of it do not."""
        if not self.preparation.rules.limits_to_payback:
            return {}
        solved, terms = self.solved_scenarios, (self.payback_margin, self.preparation.rules)
        part = self.parts["fewer_servers"] = self.work.share(SMALL_SHARE)
        with suppress(WorkSpentError):
            fewer = buy_fewer_servers(self.inputs, solved, *terms, part)
            return explain_scenarios(fewer, self.preparation)
        return {}

    def charge_preparation(self) -> None:
        """Charges what every comparison does before its scenarios."""
        sources, months = len(self.inputs.sources), self.calendar.length
        self.work.charge(PREPARATION_UNITS + sources * months * SOURCE_MONTH_UNITS)
        if self.inputs.monthly_budget is not None:  # which holds the cash of every start by month
            starts = sum(source.term is not None for source in self.inputs.sources)
            self.work.charge_model(starts * self.calendar.months**2)

    @cached_property
    def allowed_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """Scenarios that may be recommended."""
        return {k: s for k, s in self.scenarios.items() if not self.why_not_allowed(k)}

    @cached_property
    def consented_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """Scenarios that the work agrees with."""
        consent = self.inputs.interruptible
        return {k: s for k, s in self.scenarios.items() if is_allowed(k, consent)}

    def why_not_allowed(self, key: ScenarioKey) -> str:
        """Why a scenario may not be recommended; empty where it may."""
        if key not in self.consented_scenarios:
            return "The request does not say that the work may be interrupted."
        rules, margin = self.preparation.rules, self.payback_margin
        return why_not_bought(self.scenarios[key], self._best_rent, margin, rules)

    @property
    def payback_margin(self) -> float:
        """Share of its price that a purchase must save before its resale."""
        return self.preparation.assumptions["payback_margin"]

    @cached_property
    def _best_rent(self) -> Scenario | None:
        return best_without_buying(self.consented_scenarios)

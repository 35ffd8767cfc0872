"""The verdict of an answer: decision, money, certainty, and what would change it. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from planner.comparison_steps.budgets.gains import BudgetGain
from planner.comparison_steps.budgets.uses import explain_exception, list_budget_uses
from planner.comparison_steps.late_delivery import (
    describe_certain_delay,
    describe_late_delivery,
    describe_waiting,
)
from planner.comparison_steps.paybacks import month_of_payback
from planner.comparison_steps.range_doubts import SURE, RangeDoubts
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.verdict_words import VerdictWords
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import (
    CostInterval,
    LateDelivery,
    NextBest,
    Turn,
    Verdict,
)
from planner.contract.months import format_month
from planner.costing.advice.decision import list_parts
from planner.costing.advice.part_words import describe_choice, describe_parts
from planner.costing.advice.payback import (
    best_without_buying,
    capital_to_approve,
    obligation_to_sign,
)
from planner.costing.advice.turn_words import describe_turn
from planner.costing.advice.verdict import describe_unknown_prices, name_rival
from planner.costing.analysis.rent_mix import may_rent
from planner.costing.analysis.simulation import cost_of_late_servers
from planner.costing.results.payments import resale_value
from planner.costing.results.scenario_result import Scenario, cents
from planner.costing.sensible_plans import is_same_plan

MOST_TURNS = 3
IN_ANY_MONTH_RULES = 6
"""Edition of the rules from which plans that differ only in the months of the same machines, and
cost the same, count as one, 2026."""


def build_verdict(
    results: ComparisonResults,
    gains: Sequence[BudgetGain] | None = None,
    caveats: RangeDoubts = SURE,
) -> Verdict:
    """What to do; where nothing is feasible, what is in the way. `gains` is what capital budgets
    keep out, None where that is not known; `caveats` what the range of the total leaves out."""
    advice = results.recommendation
    if advice.scenario is None:
        return Verdict(
            headline=advice.because[0],
            sentence=" ".join(advice.because),
            unknown_prices=describe_unknown_prices(None, results.inputs),
        )
    return _Builder(results, results.scenarios[advice.scenario], gains, caveats).build()


class _Builder:
    """The verdict of a feasible plan."""

    def __init__(
        self,
        results: ComparisonResults,
        plan: Scenario,
        gains: Sequence[BudgetGain] | None,
        caveats: RangeDoubts,
    ) -> None:
        self.results = results
        self.plan = plan
        self.gains = gains
        self.caveats = caveats
        self.currency = results.request.currency

    def build(self) -> Verdict:
        plan, results = self.plan, self.results
        parts = list_parts(
            plan,
            results.inputs,
            results.preparation.name_place,
            self.currency,
            choice=describe_choice(results.request),
        )
        facts = Verdict(
            headline=f"{describe_parts(parts)}.",
            sentence="",
            decision=parts,
            total=plan.total_cost,
            within_horizon=plan.total_cost - plan.owed_after,
            owed_after=plan.owed_after,
            present_value=plan.net_present_cost,
            range=self._range(),
            capital_to_approve=capital_to_approve(plan.lines),
            obligation_to_sign=obligation_to_sign(plan, *self._contracts()),
            resale=resale_value(plan) or None,
            payback=self._payback(),
            against=self._against(),
            budget=tuple(list_budget_uses(results, plan)),
            exception=explain_exception(results, plan),
            confidence=self._confidence(),
            late_delivery=self._late_delivery(),
            oldest_price=self._oldest_price(),
            unknown_prices=()
            if results.is_small
            else describe_unknown_prices(plan, results.inputs),
            is_small=results.is_small,
        )
        words = VerdictWords(results, plan, facts, self.gains)
        return facts.model_copy(
            update={
                "sentence": words.sentence(),
                "reasons": tuple(words.reasons()),
                "contested": words.contested(self._rival()),
                "switch_points": tuple(self._turns()),
            }
        )

    def _contracts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Term of each commitment and lease of the plan, and the wait for it, months."""
        sources = [self.results.inputs.by_key[key] for key in self.plan.units_started]
        terms = {s.key: s.term for s in sources if s.term and (s.is_leased or not s.is_owned)}
        durations = {key: term.duration_months for key, term in terms.items()}
        return durations, {key: term.lead_months for key, term in terms.items()}

    def _range(self) -> CostInterval | None:
        risk = self.results.risk
        if risk is None:
            return None
        low, _, high = risk.total_percentiles[self.plan.key]
        caveats = self.caveats
        return CostInterval(p10=cents(low), p90=cents(high), holds=caveats.holds, note=caveats.note)

    def _payback(self) -> str | None:
        other = best_without_buying(self.results.allowed_scenarios)
        if other is None or not self.plan.buys:
            return None
        edition = int(self.results.inputs.assumptions["payback_edition"])
        month = month_of_payback(self.plan, other, self.results.calendar, edition)
        return None if month is None else format_month(self.results.calendar.month(month))

    def _against(self) -> NextBest | None:
        key = self.results.recommendation.next_best
        if key is None:
            return None
        other = self.results.scenarios[key]
        return NextBest(
            scenario=key,
            words=name_rival(other, self.plan, self.results.inputs),
            total=other.total_cost,
            difference=other.total_cost - self.plan.total_cost,
            difference_in_present_value=other.net_present_cost - self.plan.net_present_cost,
        )

    def _same_plan(self, key: ScenarioKey) -> bool:
        in_any_month = self.results.request.rules >= IN_ANY_MONTH_RULES
        other = self.results.scenarios[key]
        return is_same_plan(self.plan, other, in_any_month=in_any_month)

    def _confidence(self) -> float | None:
        """Chance that the plan is the cheapest, under whatever scenario it stands."""
        risk = self.results.risk
        if risk is None:
            return None
        return sum(p for key, p in risk.probability_cheapest.items() if self._same_plan(key))

    def _rival(self) -> tuple[ScenarioKey, float] | None:
        """Another plan that is the cheapest in more outcomes than the advised one, if any."""
        risk, own = self.results.risk, self._confidence()
        if risk is None or own is None:
            return None
        others = {k: p for k, p in risk.probability_cheapest.items() if not self._same_plan(k)}
        key = max(others, key=lambda k: others[k], default=None)
        return (key, others[key]) if key is not None and others[key] > own else None

    def _late_delivery(self) -> LateDelivery | None:
        """What it costs if the servers that may come late do, of which the latest is named; else
        that they do, where that is certain."""
        parameters, inputs = self.results.risk_parameters, self.results.inputs
        ordered = [inputs.servers.unsure.get(key) for key in self.plan.units_started]
        risks = [one.delivery for one in ordered if one is not None and one.delivery is not None]
        if parameters is None or not risks:
            bought = [inputs.servers.by_key.get(key) for key in self.plan.units_started]
            delay = max((one.certain_delay_months for one in bought if one), default=0)
            return describe_certain_delay(delay) if delay else None
        latest = max(risks, key=lambda risk: risk.late_months)
        if not may_rent(self.plan, inputs):
            return describe_waiting(latest)
        cost = cents(cost_of_late_servers(self.plan, inputs, parameters))
        return describe_late_delivery(latest, cost, self.currency)

    def _oldest_price(self) -> dt.date | None:
        sources = (self.results.inputs.by_key[key] for key in self.results.priced_keys(self.plan))
        return min((s.native.as_of for s in sources if s.native and s.native.as_of), default=None)

    def _turns(self) -> Iterator[Turn]:
        for point in self.results.turning_points[:MOST_TURNS]:
            yield Turn(
                field=point.field,
                multiplier=round(point.multiplier, 3),
                scenario=point.scenario,
                sentence=describe_turn(point),
            )

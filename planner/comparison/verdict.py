"""The verdict of an answer: what to do, its money and certainty, what would change it. PURE.

Figures first, then the sentences that a budget meeting understands, the most telling first.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.comparison.budgets import BudgetGain, describe_gain, list_budget_uses
from planner.comparison.early_finish import hours_of_machines
from planner.comparison.results import ComparisonResults
from planner.contract.amounts import format_duration, format_money, format_month, parse_month
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.risk import Cause
from planner.contract.answer.verdict import CostInterval, DecisionPart, NextBest, Verdict
from planner.contract.labels import (
    CHANCE_TO_MISS,
    MISSES_ITS_DEADLINE,
    NO_RANGE_HERE,
    OWNED,
    SECURE_CAPACITY,
)
from planner.costing.advice.decision import (
    MANY_MACHINES,
    OBLIGATIONS,
    OWNING,
    describe_beside,
    describe_due_later,
    describe_orders,
    describe_owed,
    describe_parts,
    list_parts,
)
from planner.costing.advice.verdict import (
    NEGLIGIBLE,
    best_without_buying,
    capital_to_approve,
    contract_terms,
    describe_forgone,
    describe_unknown_prices,
    name_rival,
    obligation_to_sign,
    write_short,
)
from planner.costing.choice import round_to_error, standard_error
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import Floats
from planner.costing.results.scenario_result import Scenario, cents, resale_value
from planner.costing.statements.returns import payback_months, payback_of_payments
from pricing.common.words import pluralize
from pricing.market.offers import PurchaseOption

MOST_REASONS = 3
FAR_APART = Decimal("0.1")
"""Share of the cost as stated by which the expected cost is told apart; a choice of this project,
2026."""
BECAUSE = {
    Cause.HOURS: ("the work may take many more hours", "the work may take fewer hours"),
    Cause.END: ("the project may end late", "the project may end early"),
    Cause.DELIVERY: ("servers may come late", "servers may come sooner"),
    Cause.PRICES: ("prices may rise", "prices may fall"),
    Cause.CAPACITY: ("machines may be taken back or not be had", "machines may not be had"),
    Cause.QUOTES: ("quotes may be higher", "quotes may be lower"),
    Cause.RESALE: ("servers may fetch less", "servers may fetch more"),
}
"""Why a plan may cost more than as stated, and less."""
HALF_PERCENT = 0.005
"""What is less is written as 0%."""
NARROW = Decimal("0.01")
"""Share of a total within which a range is as good as the total."""


def build_verdict(
    results: ComparisonResults,
    gains: Sequence[BudgetGain] | None = None,
    caveats: RangeDoubts | None = None,
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
    plan = results.scenarios[advice.scenario]
    facts = _Facts(results, plan, caveats or RangeDoubts()).build()
    words = VerdictWords(results, plan, facts, gains)
    return facts.model_copy(
        update={"sentence": words.sentence(), "reasons": tuple(words.reasons())}
    )


@dataclass(frozen=True)
class _Facts:
    results: ComparisonResults
    plan: Scenario
    caveats: RangeDoubts

    def build(self) -> Verdict:
        plan, results = self.plan, self.results
        priced = (results.inputs.by_key[key].native for key in results.priced_keys(plan))
        days = (native.as_of for native in priced if native is not None)
        parts = list_parts(
            plan, results.inputs, results.preparation.name_place, results.request.currency
        )
        return Verdict(
            headline=f"{describe_parts(parts)}.",
            sentence="",
            decision=parts,
            sizing=_describe_size(results),
            orders=describe_orders(parts, results.request.currency),
            due_later=tuple(
                describe_due_later(plan, parts, results.calendar, results.request.currency)
            ),
            total=plan.total_cost,
            **self._expected(),
            within_horizon=plan.total_cost - plan.owed_after,
            owed_after=plan.owed_after,
            present_value=plan.net_present_cost,
            range=self._range(),
            capital_to_approve=capital_to_approve(plan.lines),
            obligation_to_sign=obligation_to_sign(
                plan, *contract_terms([results.inputs.by_key[key] for key in plan.units_started])
            ),
            resale=resale_value(plan) or None,
            payback=self._payback(),
            against=self._against(),
            budget=tuple(list_budget_uses(results, plan)),
            **self._deadline(),
            confidence=chance_to_be_cheapest(results, plan),
            oldest_price=min((day for day in days if day is not None), default=None),
            unknown_prices=()
            if results.is_small
            else describe_unknown_prices(plan, results.inputs),
            is_small=results.is_small,
        )

    def _expected(self) -> dict[str, Any]:
        choice = self.results.choice
        if choice is None or self.results.simulation is None:
            return {}
        at = choice.index
        return {
            "expected": cents(float(choice.total[at].mean())),
            "standard_error": cents(standard_error(choice.total[at])),
            "expected_present_value": cents(float(choice.expected[at])),
            "expected_bound": None if choice.bound is None else cents(choice.bound),
            "risk_allowance": {c.value: amount for c, amount in self.results.risk_allowance},
        }

    def _deadline(self) -> dict[str, Any]:
        work = likeliest_late(self.results)
        if work is None or not work.has_deadline:
            return {}
        return {"deadline": f"{work.last:%Y-%m}", "deadline_chance": round(1.0 - work.share, 4)}

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
        calendar = self.results.calendar
        months = months_to_pay_back(self.plan, other, calendar)
        return None if months is None else format_month(calendar.month(int(months)))

    def _against(self) -> NextBest | None:
        key = self.results.recommendation.next_best
        if key is None:
            return None
        choice, other = self.results.choice, self.results.scenarios[key]
        at = None if choice is None else choice.find(other)
        if choice is None or at is None:
            return None
        own = cents(float(choice.total[choice.index].mean()))
        expected = cents(float(choice.total[at].mean()))
        return NextBest(
            scenario=key,
            words=name_rival(other, self.plan, self.results.inputs),
            total=other.total_cost,
            expected=expected,
            difference=expected - own,
            difference_in_present_value=self.results.recommendation.saving,
        )


def _describe_size(results: ComparisonResults) -> str:
    size, of_one = results.main_size, results.inputs.throughput
    if size is None:
        return ""
    hours = format_duration(results.inputs.hours.sum() / of_one[size.accelerator.slug])
    precision = f", in {size.figures.precision}" if size.figures.precision else ""
    return f"Sized for {size.words}{precision}: {hours} of one accelerator in all."


def is_same_plan(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios come to one plan: the same lines, or as much from the same offers and
    servers, as where the bills that credits pay could be others."""
    if one.lines == other.lines:
        return True
    sources = [{*plan.used_hours, *plan.units_started} for plan in (one, other)]
    apart = abs(one.net_present_cost - other.net_present_cost)
    is_as_cheap = apart <= abs(one.net_present_cost) * NEGLIGIBLE
    return is_as_cheap and sources[0] == sources[1]


def chance_to_be_cheapest(results: ComparisonResults, plan: Scenario) -> float | None:
    """Chance that the plan is the cheapest, under whatever scenario it stands; None where there is
    no other plan to compare it with, or one that would have been is barred."""
    others = [
        key
        for key, one in results.scenarios.items()
        if one.feasible and not is_same_plan(plan, one)
    ]
    if results.risk is None or not others or any(map(results.why_not_allowed, others)):
        return None
    chances = results.risk.probability_cheapest
    return sum(p for key, p in chances.items() if is_same_plan(plan, results.scenarios[key]))


# When a purchase has paid for itself ---------------------------------------------------------


def months_to_pay_back(
    own: Scenario, rent: Scenario, calendar: Calendar, *, is_discounted: bool = False
) -> float | None:
    """Months until what `own` has saved beside `rent` stays no less than what it spent.

    Each payment counts evenly over the month from its moment on (`payback_of_payments`); where
    bills are paid once a year the balance moves evenly from one payment to the next, as annual
    models have it.
    """
    closing, amounts, moments = 0.0, [np.zeros(0)], [np.zeros(0)]
    for entries, sign in ((rent.entries, 1.0), (own.entries, -1.0)):
        for entry in entries:
            saved = np.asarray(sign * entry.due / 100.0, dtype=np.float64)
            if is_discounted:
                saved *= calendar.discount_of(entry.paid)
            if entry.is_closing:
                closing += float(saved.sum())
                continue
            paid = np.flatnonzero(saved)
            amounts.append(saved[paid])
            moments.append(calendar.paid_months(entry.paid)[paid])
    amount, moment, horizon = (
        np.concatenate(amounts),
        np.concatenate(moments),
        float(calendar.months),
    )
    if calendar.cash_timing == "year_end":
        rounded = np.round(moment, 9)
        times = sorted({*rounded.tolist(), horizon})
        sums = [float(amount[rounded == time].sum()) for time in times]
        months = payback_months(sums, closing, times)
    elif not amount.size:
        return None if closing < 0 else 0.0
    else:
        months = payback_of_payments(amount, moment, horizon, closing)
    return None if months is None else round(months, 4)


# Sentences ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VerdictWords:
    """Sentences about one plan and its facts."""

    results: ComparisonResults
    plan: Scenario
    facts: Verdict
    gains: Sequence[BudgetGain] | None = None

    def sentence(self) -> str:
        """What to do, then what it costs."""
        signed = (self._comparison(), *self._signatures())
        cost = "; ".join(filter(None, (", ".join(self._money_parts()), *signed)))
        owed = describe_owed(self.plan, self.results.inputs, self.results.request)
        first = (self.facts.headline, *self._capacity(), *self._missed())
        parts = (*first, f"Expect {cost}.", owed)
        return " ".join(part for part in parts if part)

    def _capacity(self) -> Iterator[str]:
        for part in self.facts.decision:
            machines = f"{part.units:,.0f} × {part.label.partition(' ')[0]}"
            if (part.units or 0) < MANY_MACHINES:
                continue
            if part.action == "rent":
                yield f"{SECURE_CAPACITY}: no cloud keeps {machines} ready to rent by the hour."
            elif part.purchase_option == PurchaseOption.SAVINGS_PLAN:
                yield f"{SECURE_CAPACITY}: a savings plan fixes the price of {machines} alone."

    def _missed(self) -> Iterator[str]:
        late = find_late_work(self.results)
        if late is not None:
            yield late.sentence
        for use in self.facts.budget:
            least = self.results.terms.certainty
            if use.chance is not None and use.chance < least:
                limit, share = self._money(use.budget), write_short(use.chance, least)
                yield f"The budget of {limit} is kept in {share} of outcomes."

    def _money_parts(self) -> Iterator[str]:
        facts = self.facts
        after = " after tax" if self.results.calendar.tax_rate else ""
        expected, error = self._expected()
        shown = self._rounded(float(expected), error)
        yield f"{shown}{after} {self._span()}{self._range()}"
        yield from describe_beside(
            self.plan, self.results.calendar.tax_rate, self.results.request.currency
        )
        if facts.resale:
            yield f"net of {self._bare(facts.resale)} of resale"

    def _signatures(self) -> Iterator[str]:
        if self.facts.capital_to_approve:
            when = self._first_of("buy")
            yield f"{self._bare(self.facts.capital_to_approve)} to approve{when}"
        if self.facts.obligation_to_sign:
            when = self._first_of("commit", "lease")
            amount = self._bare(self.facts.obligation_to_sign)
            yield f"{amount} to sign{self._when_paid()}{when}"

    def _first_of(self, *actions: str) -> str:
        parts = [part for part in self.facts.decision if part.action in actions]
        first = min((part.starts for part in parts), default="")
        if all(part.last_start == first for part in parts):
            return ""
        return f" in {parse_month(first):%B %Y}"

    def _when_paid(self) -> str:
        signed = [line for line in self.plan.lines if line.source in self.plan.units_started]
        paid = {line.category for line in signed} & OBLIGATIONS
        return " and prepay" if paid == {Category.UPFRONT} else ""

    def _expected(self) -> tuple[Decimal, float]:
        expected, error = self.facts.expected, self.facts.standard_error
        return self.plan.total_cost if expected is None else expected, float(error or 0)

    def _span(self) -> str:
        horizon = months = self.results.calendar.months
        paid = sorted({line.month for line in self.plan.lines})
        if paid and paid[-1] < horizon - 1:
            months = paid[-1] - paid[0] + 1
        if months == 1 < horizon:
            return "in all"
        years = pluralize(months // 12, "year")
        return f"over {years}" if months % 12 == 0 else f"over {pluralize(months, 'month')}"

    def _range(self) -> str:
        interval = self.facts.range
        if interval is None:
            return ""
        total, low, high = self._expected()[0], interval.p10, interval.p90
        error = self._expected()[1]
        ends = f"{self._bare(low, error)} to {self._bare(high, error)}"
        if not interval.holds:
            return f" (the range of {ends} comes from published runs and does not hold here)"
        if max(abs(low - total), abs(high - total)) <= total * NARROW:
            return ", within 1% of that"
        return f" ({ends})"

    def _comparison(self) -> str:
        other = self.facts.against
        if other is None:
            return ""
        _, error = self._expected()
        apart = self._bare(abs(other.difference), error)
        if other.difference >= 0:
            return f"{apart} less than {other.words}" if apart != "0" else ""
        present = self._bare(other.difference_in_present_value, error)
        less = f"{apart} more than {other.words}, but {present} less in present value"
        return "" if present == "0" else less

    # Reasons ----------------------------------------------------------------------------------

    def reasons(self) -> list[str]:
        """Why this plan, the most telling first, at most three; what it forgoes is the last."""
        if self.facts.is_small:
            small = *self._why_risky(), self._why_early()
            return [reason for reason in small if reason]
        last = [reason for reason in (self._forgone(),) if reason]
        every = *self._why_risky(), *self._all_reasons()
        reasons = [reason for reason in every if reason]
        return [*reasons[: MOST_REASONS - len(last)], *last]

    def _why_risky(self) -> Iterator[str]:
        yield self._why_apart()
        yield self._why_sure()
        yield self._why_not_there()

    def _why_apart(self) -> str:
        """What most sets the expected cost apart from that as stated, where they are far apart."""
        stated, (expected, error) = self.plan.total_cost, self._expected()
        is_less, allowance = expected < stated, self.facts.risk_allowance
        if abs(expected - stated) <= abs(stated) * FAR_APART or not allowance:
            return ""
        cause = (min if is_less else max)(allowance, key=lambda name: allowance[name])
        shown = self._rounded(float(expected), error)
        why = BECAUSE[Cause(cause)][is_less]
        return f"{self._bare(stated)} as stated; {shown} expected, because {why}."

    def _why_sure(self) -> str:
        choice, simulation = self.results.choice, self.results.simulation
        if choice is None or simulation is None or simulation.outcomes.waits is None:
            return ""
        at = min(range(len(choice.candidates)), key=choice.rank_of)
        less = float((choice.total[choice.index] - choice.total[at]).mean())
        if at in choice.admissible or less <= 0:
            return ""
        in_time = write_short(float(choice.certain[at]), self.results.terms.certainty)
        return (
            f"Renting by the hour is expected to cost {self._rounded(less, self._expected()[1])} "
            f"less, and has its machines in time in {in_time} of outcomes."
        )

    def _why_not_there(self) -> str:
        """What a stated chance that machines by the hour are not there adds to what is expected."""
        risk, added = self.results.request.risk, self.facts.risk_allowance.get(Cause.CAPACITY)
        chance = risk and risk.on_demand_unavailable_probability
        if not chance or added is None:
            return ""
        spot = any(part.purchase_option == PurchaseOption.SPOT for part in self.facts.decision)
        also = ", with interruptions of spot machines," if spot else ""
        adds = f"adds {self._money(added) if added else 'nothing'} to"
        if added < 0:
            adds = f"takes {self._money(-added)} off"
        return (
            f"The stated chance of {chance:.0%} that machines by the hour are not there{also} "
            f"{adds} the expected cost."
        )

    def _all_reasons(self) -> Iterator[str]:
        yield self._why_early()
        out_of_reach = describe_gain(self.results, self.facts, self.gains)
        yield out_of_reach
        first = self.facts.decision[0] if self.facts.decision else None
        if first is not None and first.action in OWNING:
            yield self._why_buy(first)
        yield self._against_on_demand()
        actions = {part.action for part in self.facts.decision}
        owns = not actions.isdisjoint(OWNING)
        if not (out_of_reach or owns):
            yield self._why_not_buy()

    def _why_early(self) -> str:
        early = self.results.early_finish
        if early is None:
            return ""
        cost = ": spread evenly up to it, no plan would keep to the limits"
        if early.total is not None:
            more = early.total - self.plan.total_cost
            cost = (
                f": spread evenly up to it, the work would cost {self._money(more)} more as stated"
            )
            if abs(more) <= self.plan.total_cost * NARROW:
                cost = ", at the same cost"
            elif more < 0:
                cost = ""
        last = self.results.calendar.month(int(np.flatnonzero(self.results.inputs.hours)[-1]))
        return f"The work is finished by the end of {last:%B %Y}, before its deadline{cost}."

    def _forgone(self) -> str:
        """What a plan that costs less would save, where none of the scenarios says it."""
        results, choice = self.results, self.results.choice
        if choice is None or not choice.refusals or any(map(results.why_not_allowed, ScenarioKey)):
            return ""
        cheapest = min(choice.refusals, key=choice.rank_of)
        apart = choice.expected[choice.index] - choice.expected[cheapest]
        if apart <= abs(choice.expected[choice.index]) * float(NEGLIGIBLE):
            return ""
        return describe_forgone(choice, cheapest, results.inputs, results.request.currency)

    def _why_buy(self, part: DecisionPart) -> str:
        rows = [row for row in self.plan.capacity if row.source == part.source]
        available = sum(row.hours_available for row in rows)
        if not available:
            return ""
        use = sum(row.hours_used for row in rows) / available
        had = "leased" if part.action == "lease" else "bought"
        text = f"The servers {had} are in use for {use:.0%} of their available hours"
        rents = self.results.break_even_of_rents
        row = next((r for r in rents if f"server:{r.server}" == part.source), None)
        pays_from = None if row is None else row.utilisation_over_life
        if row is None or pays_from is None or use < pays_from or row.over_life == "up_to":
            return f"{text}."
        rent = self.results.inputs.by_key[row.against].label
        from_use = f"from {pays_from:.0%} use on" if pays_from >= HALF_PERCENT else "at any use"
        return f"{text}; over their life they cost less than {rent} {from_use}."

    def _against_on_demand(self) -> str:
        rent, against = self.results.scenarios[ScenarioKey.ON_DEMAND], self.facts.against
        is_said = against is not None and against.scenario == "on_demand"
        extra = self._expected_more(rent)
        if is_said or not rent.feasible or rent.lines == self.plan.lines or extra <= 0:
            return ""
        expected, error = self._expected()
        share = extra / (float(expected) + extra)
        less = f"{self._rounded(extra, error)} ({share:.0%})"
        return f"The plan is expected to cost {less} less than renting on demand alone."

    def _expected_more(self, other: Scenario) -> float:
        choice = self.results.choice
        at = None if choice is None else choice.find(other)
        if choice is None or at is None:
            return float(other.total_cost - self.plan.total_cost)
        return float((choice.total[at] - choice.total[choice.index]).mean())

    def _why_not_buy(self) -> str:
        bought = self.results.scenarios[ScenarioKey.HYBRID]
        if bought.feasible and bought.lines != self.plan.lines and bought.buys:
            refusal = self.results.why_not_allowed(ScenarioKey.HYBRID)
            if refusal:
                return refusal
        own, against = self.results.scenarios[ScenarioKey.ON_PREM], self.facts.against
        if against is not None and against.scenario == ScenarioKey.ON_PREM:
            return ""
        owned = (key for key in own.units_started if self.results.inputs.by_key[key].is_owned)
        if not own.feasible or own.lines == self.plan.lines or not any(owned):
            return ""
        extra = self._expected_more(own)
        if extra > 0:
            owns = any(p.purchase_option == OWNED for p in self.facts.decision)
            other = "Buying more servers" if owns else "Owning servers instead"
            return f"{other} is expected to cost {self._rounded(extra, self._expected()[1])} more."
        return self.results.why_not_allowed(ScenarioKey.ON_PREM)

    def _rounded(self, amount: float, error: float) -> str:
        if error <= 1.0:
            return self._money(amount)
        return f"{round_to_error(amount, error):,.0f} {self.results.request.currency}"

    def _bare(self, amount: Decimal, error: float = 0.0) -> str:
        return self._rounded(float(amount), error).rpartition(" ")[0]

    def _money(self, amount: Decimal | float) -> str:
        return format_money(amount, self.results.request.currency)


# What ranges leave out ------------------------------------------------------------------------

_NOISE = 1e-6
"""Share of a machine that no rounding up counts."""
SURELY_THERE = "Machines reserved by date, contracts or own servers"
WORTH_SAYING = 0.1
"""Share of outcomes past the deadline from which the p90 of the hours is one of them."""


@dataclass(frozen=True)
class RangeDoubts:
    """Whether the ranges of an answer hold, and what they leave out."""

    holds: bool = True
    """False where the work is far from every published run."""
    note: str = ""
    """What stands beside a range of costs; empty where there is nothing to say."""
    warning: str = ""
    """What the warnings say of work that is not done in its months; empty where it is in 9 outcomes
    of 10."""


def find_range_doubts(results: ComparisonResults) -> RangeDoubts:
    """What to know of the ranges of an answer.

    With L the factor on the hours in an outcome, H the hours of a run's months and

        A = Σ ⌈nodes at work⌉ · capacity · hours of a node in a month

    what the machines of the plan can give in them, the run is not done in them on these machines
    where L · H > A. A range rents more to the nearest whole machine, as if that were seen in
    time, and leaves out what then does not fit.
    """
    holds = not any(NO_RANGE_HERE in words for words in results.sizing_notes)
    beyond = "" if holds else f"{NO_RANGE_HERE}, as the work is far from every published run"
    note, warning = _describe_late(results)
    return RangeDoubts(holds, "; ".join(filter(None, (beyond, note))), warning)


def _describe_late(results: ComparisonResults) -> tuple[str, str]:
    work = find_late_work(results)
    if work is None:
        return "", ""
    share, last = work.share, f"{work.last:%B %Y}"
    goes_on = (
        f"{MISSES_ITS_DEADLINE}, the end of {last},"
        if work.has_deadline
        else f"goes on after {last}"
    )
    return (
        f"in {share:.0%} of the simulated cases the work is not done by the end of {last} on these "
        "machines; the range then counts more of them",
        f"In {share:.0%} of the simulated outcomes the work {goes_on} on the machines of this "
        "plan. The range of the total then counts more of them, as if rented in good time. "
        f"{work.mended_by}",
    )


@dataclass(frozen=True, order=True)
class LateWork:
    """Work that may take more than its months on the machines of the plan."""

    share: float
    """Of the outcomes."""
    more: float
    """Share of further accelerators with which it is done in 9 of 10 outcomes; infinite where no
    number of machines by the hour does it."""
    last: dt.date
    """The month by whose end it should be done."""
    has_deadline: bool

    @property
    def mended_by(self) -> str:
        """With what it is done in 9 of 10 outcomes."""
        if math.isinf(self.more):
            return f"{SURELY_THERE} would be there."
        return (
            f"At least {self.more:.0%} more accelerators from the start would do in 9 of 10 "
            "outcomes; a rate measured in a short pilot makes the hours more certain."
        )

    @property
    def sentence(self) -> str:
        """Its chance, and what mends it."""
        if not self.has_deadline:
            return ""
        mended = f"{self.more:.0%} more accelerators make it 10%."
        if math.isinf(self.more):
            mended = f"{SURELY_THERE[0].lower()}{SURELY_THERE[1:]} would keep it."
        return f"{CHANCE_TO_MISS}, {self.last:%B %Y}, is {self.share:.0%}; {mended}"


def find_late_work(results: ComparisonResults) -> LateWork | None:
    """The same where it is worth saying: not where all is done in time in 9 of 10 outcomes."""
    likeliest = likeliest_late(results)
    return likeliest if likeliest and likeliest.share > WORTH_SAYING else None


def likeliest_late(results: ComparisonResults) -> LateWork | None:
    """The work that is the likeliest to take more than its months; None where its hours are known
    and machines are there, or requests are answered as they come."""
    advised, simulation = results.recommendation.scenario, results.simulation
    if advised is None or simulation is None or results.request.workload.kind == "serving":
        return None
    plan, windows = results.scenarios[advised], results.preparation.windows
    factors, waits = simulation.hours_factors, np.zeros(simulation.parameters.samples, bool)
    if simulation.outcomes.waits is not None and windows:
        waits = simulation.cost([plan])[3, 0] > 0.5
    late = [] if factors is None else list(_late_work(results, plan, factors, waits))
    if waits.any():
        late.append(LateWork(float(waits.mean()), math.inf, *windows[-1][1:]))
    return max(late, default=None)


def _late_work(
    results: ComparisonResults, plan: Scenario, factors: Floats, waits: NDArray[np.bool_]
) -> Iterator[LateWork]:
    available, hours = hours_of_machines(plan, results.inputs), results.inputs.hours
    if results.early_finish is not None:  # what is not done by then goes on to the deadline
        available = np.where(hours > 0, available, available.max())
    for months, last, has_deadline in results.preparation.windows:
        needed, most = hours[months].sum(), available[months].sum()
        if needed and most:
            is_long = factors * needed > most * (1.0 + _NOISE)
            longest = float(np.percentile(factors, 90) * needed / most)
            more = math.ceil(longest * 100 - 100) / 100
            if waits.mean() > is_long.mean() or (waits.any() and more <= 0.0):
                more = math.inf  # more of what is not there does not help
            yield LateWork(float((is_long | waits).mean()), more, last, has_deadline)

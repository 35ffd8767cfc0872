"""The verdict in sentences that a budget meeting understands. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np

from planner.comparison_steps.budgets.gains import BudgetGain
from planner.comparison_steps.budgets.words import (
    describe_full_budget,
    describe_gain,
    explain_no_room,
)
from planner.comparison_steps.deadlines.words import describe_sooner, describe_span
from planner.comparison_steps.paybacks import describe_payback
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import CostInterval, DecisionPart, Verdict
from planner.contract.money import format_difference, format_money
from planner.contract.place_limits import NOWHERE
from planner.contract.purchase_options import COMMITTED, OWNED, traits
from planner.contract.shares import format_shares
from planner.costing.advice.beside_machines import describe_beside
from planner.costing.advice.limit_words import describe_longest_term
from planner.costing.advice.owed_after import describe_owed
from planner.costing.advice.payback import describe_thin_commitment, renting_cost
from planner.costing.advice.shares import share_of_hours, split_rent
from planner.costing.advice.unfilled_machines import hint_at_smaller_server
from planner.costing.advice.verdict import SCENARIO_NAMES
from planner.costing.analysis.break_even import BreakEven
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.results.payments import capital, total_without_resale
from planner.costing.results.scenario_result import Scenario
from pricing.common.pluralize import pluralize
from pricing.common.sentences import capitalize_first

MOST_REASONS = 3
OWNING, RENTING = ("buy", "lease"), ("rent", "reserve")
"""What is done to have servers of one's own, and to have machines for some hours."""
_SHARE_WORTH_SAYING, _WELL_USED = 0.01, 0.5
"""Share that is worth a word, and of the hours rented whole that need none; 2026."""
NARROW = Decimal("0.01")
"""Share of a total within which a range is as good as the total."""
_SMALLER = " An accelerator that is offered in smaller machines may cost less."
_AS_STATED = " at the hours and prices given"


class VerdictWords:
    """Sentences about one plan and its facts."""

    def __init__(
        self,
        results: ComparisonResults,
        plan: Scenario,
        facts: Verdict,
        gains: Sequence[BudgetGain] | None = None,
    ) -> None:
        self.results = results
        self.plan = plan
        self.facts = facts
        self.gains = gains
        self.currency = results.request.currency

    def sentence(self) -> str:
        """What to do, then what it costs."""
        cost = f"It costs {', '.join(self._money_parts())}{self._comparison()}."
        payback = describe_payback(self.facts, self.results.calendar)
        owed = describe_owed(self.plan, self.results.inputs, self.results.request)
        afterwards = ", and ".join(filter(None, (payback, owed)))
        return f"{self.facts.headline} {cost} {capitalize_first(afterwards)}."

    def _money_parts(self) -> Iterator[str]:
        facts = self.facts
        after = " after tax" if self.results.calendar.tax_rate else ""
        span = describe_span(self.results, self.plan, is_small=facts.is_small)
        yield f"{self._money(self.plan.total_cost)}{after} {span}{self._range()}"
        yield from describe_beside(self.plan, self.results.inputs, self.currency)
        if facts.resale:
            yield f"net of {self._money(facts.resale)} from reselling the servers at the end"

    def _range(self) -> str:
        interval = self.facts.range
        if interval is None:
            return ""
        total, ends = self.plan.total_cost, self._between(interval)
        if not interval.holds:
            return f" (the range of {ends} comes from published runs and does not hold here)"
        if interval.p10 == interval.p90 == total:
            return ", the same in 8 of 10 cases"
        if max(abs(interval.p10 - total), abs(interval.p90 - total)) <= total * NARROW:
            return ", within 1% of that in 8 of 10 cases"
        stated = "" if interval.p10 <= total <= interval.p90 else _AS_STATED
        return f"{stated} ({ends} in 8 of 10 cases)"

    def _comparison(self) -> str:
        """Against the next best, in one kind of money; where the two kinds disagree, both."""
        other = self.facts.against
        if other is None:
            return ""
        if not other.difference and other.difference_in_present_value > 0:
            later = self._money(other.difference_in_present_value)
            return f"; that is as much as {other.words}, but {later} less in present value"
        if other.difference >= 0:
            less = self._above(other.total, self.plan.total_cost)
            return f"; that is {less} less than {other.words}"
        return (
            f"; that is {self._above(self.plan.total_cost, other.total)} more than {other.words}, "
            f"but {self._money(other.difference_in_present_value)} less in present value, because "
            "more of it is due later"
        )

    # Reasons ----------------------------------------------------------------------------------

    def reasons(self) -> list[str]:
        """Why this plan, the most telling first, at most three."""
        if self.facts.is_small:
            return [reason for reason in [self._why_sooner()] if reason]
        reasons = [reason for reason in self._all_reasons() if reason]
        return reasons[:MOST_REASONS]

    def _all_reasons(self) -> Iterator[str]:
        yield self.facts.exception
        yield self._why_sooner()
        out_of_reach = describe_gain(self.results, self.facts, self.gains)
        yield out_of_reach
        first = self.facts.decision[0] if self.facts.decision else None
        if first is not None and first.action in OWNING:
            hint = hint_at_smaller_server(self.plan, self.results.inputs)
            yield f"{self._why_buy(first)}{hint}".strip()
        yield self._against_on_demand()
        if not (out_of_reach or any(part.action in OWNING for part in self.facts.decision)):
            yield self._why_not_buy()
        actions = {part.action for part in self.facts.decision}
        if "commit" not in actions and actions & {"rent", "reserve"}:
            yield self._why_not_commit()
        if "commit" in actions and not actions & {*OWNING}:
            rent = self.results.scenarios[ScenarioKey.ON_DEMAND]
            yield describe_thin_commitment(self.plan, rent, self.currency)
        if self.gains is None:
            yield describe_full_budget(self.results, self.facts)
        yield self._why_rent_beside()
        yield self._why_idle()

    def _why_sooner(self) -> str:
        """When the work is done that is not spread over the months to its deadline."""
        if self.results.sooner is None:
            return ""
        return describe_sooner(self.results.sooner, self.results)

    def _why_buy(self, part: DecisionPart) -> str:
        """Use of the servers beside the use from which they pay."""
        rows = [row for row in self.plan.capacity if row.source == part.source]
        available = sum(row.hours_available for row in rows)
        if not available:
            return ""
        use = sum(row.hours_used for row in rows) / available
        row = self._break_even_of(part.source)
        had = "leased" if part.action == "lease" else "bought"
        text = f"The servers {had} are in use for {use:.0%} of their available hours"
        if row is None or row.utilisation_over_life is None or row.utilisation_over_life > 1:
            return f"{text}."
        if row.over_life == "up_to":
            return f"{text}."
        if use < row.utilisation_over_life:  # What is rented in their place would idle as well.
            rents_whole = self.results.inputs.whole_nodes
            paid = "rented machines are paid for whole too, used or not"
            return f"{text}; {paid}." if rents_whole else f"{text}."
        rent = self._name_rent(self.results.inputs.by_key[row.against])
        least = f"from {row.utilisation_over_life:.0%} use on"
        at = "at any use" if row.over_life == "always" else least
        return f"{text}; over their useful life they cost less than {rent} {at}."

    def _name_rent(self, source: CapacitySource) -> str:
        """A machine, how it is paid for and where, as people call the place."""
        if not source.provider or source.instance_type in ("", NOWHERE):
            return source.label
        option = traits(source.purchase_option).label
        if source.purchase_option in COMMITTED and source.term is not None:
            option = f"{option} for {pluralize(source.term.duration_months, 'month')}"
        place = self.results.preparation.name_place(source.provider, source.region)
        return f"{source.instance_type} ({option}) in {place}"

    def _break_even_of(self, source: str) -> BreakEven | None:
        """A server against the cheapest rent that the plan might use instead."""
        rows = [r for r in self.results.break_even_of_rents if f"server:{r.server}" == source]
        return rows[0] if rows else None

    def _against_on_demand(self) -> str:
        rent = self.results.scenarios[ScenarioKey.ON_DEMAND]
        if not rent.feasible or rent.lines == self.plan.lines or self._is_against_on_demand():
            return ""
        extra = rent.total_cost - self.plan.total_cost
        if extra <= 0:
            return ""
        share = f" ({extra / rent.total_cost:.0%})" if rent.total_cost > 0 else ""
        less = self._above(rent.total_cost, self.plan.total_cost)
        return f"The plan costs {less}{share} less than renting on demand alone."

    def _is_against_on_demand(self) -> bool:
        return self.facts.against is not None and self.facts.against.scenario == "on_demand"

    def _why_not_buy(self) -> str:
        refusal = self.results.why_not_allowed(ScenarioKey.HYBRID)
        bought = self.results.scenarios[ScenarioKey.HYBRID]
        saved = self.plan.total_cost - bought.total_cost
        if refusal and bought.buys and saved > 0:
            return self._why_not_by_its_margin(bought)
        own = self.results.scenarios[ScenarioKey.ON_PREM]
        if not own.feasible:
            return explain_no_room(own, self.results, self.gains)
        if own.lines == self.plan.lines or not self._owned(own):
            return ""
        extra = own.total_cost - self.plan.total_cost
        if extra > 0:
            owns = any(p.purchase_option == OWNED for p in self.facts.decision)
            other = "Buying more servers" if owns else "Owning servers instead"
            more = self._above(own.total_cost, self.plan.total_cost)
            hint = hint_at_smaller_server(own, self.results.inputs, self.plan.total_cost)
            return f"{other} would cost {more} more{self._idle(own)}.{hint}"
        refusal = self.results.why_not_allowed(ScenarioKey.ON_PREM)
        return self._why_not_by_its_margin(own) if refusal and extra and own.buys else refusal

    def _why_not_by_its_margin(self, bought: Scenario) -> str:
        """What a purchase saves before and after its resale, beside what is asked of it."""
        unsold = total_without_resale(bought)
        rent = renting_cost(self.plan, self.results.preparation.rules)
        sold = unsold - rent + self.plan.total_cost - bought.total_cost
        before = f"save {self._above(rent, unsold)}"
        if unsold > rent:
            before = f"cost {self._above(unsold, rent)} more"
        margin = Decimal(str(self.results.payback_margin))
        least = f"{self._money(capital(bought) * margin)} ({margin:.0%} of the purchase price)"
        due = f"would have to save at least {least}" if margin else "must not cost more"
        return (
            f"Buying does not save enough: before any resale it would {before} but {due}. "
            f"With {self._money(sold)} from reselling the servers it would cost "
            f"{self._above(self.plan.total_cost, bought.total_cost)} less."
        )

    def _idle(self, own: Scenario) -> str:
        """How much of owned servers would stand idle."""
        owned = self._owned(own)
        rows = [row for row in own.capacity if row.source in owned]
        available = sum(row.hours_available for row in rows)
        if not available:
            return ""
        idle = 1.0 - sum(row.hours_used for row in rows) / available
        return f": they would be idle for {idle:.0%} of the time" if idle > 0.1 else ""

    def _owned(self, plan: Scenario) -> set[str]:
        """Servers that a plan starts; none where even the plan of owning rents alone."""
        return {key for key in plan.units_started if self.results.inputs.by_key[key].is_owned}

    def _why_not_commit(self) -> str:
        committed = self.results.scenarios[ScenarioKey.COMMITTED]
        busy = int(np.count_nonzero(self.results.demand.hours_per_month))
        months, sources = self.results.calendar.months, self.results.inputs.sources
        committable = (s for s in sources if s.purchase_option in COMMITTED)
        terms = [s.term.duration_months for s in committable if s.term is not None]
        if not committed.feasible or busy >= min(terms, default=0) or busy == months:
            return describe_longest_term(self.results.request, self.results.inputs)
        return (
            f"There is work in only {busy} of {months} months, and a commitment is paid for "
            "throughout its term."
        )

    def _why_rent_beside(self) -> str:
        """What is rented beside servers: until they arrive, and beyond what they can do."""
        if not any(part.action in OWNING for part in self.facts.decision):
            return ""
        arrival, inputs = self._first_service(), self.results.inputs
        shares = {part.source: part.share_of_hours for part in self.facts.decision}
        rented = [part.source for part in self.facts.decision if part.action in RENTING]
        in_all = sum(shares[source] for source in rented)
        sources = [inputs.by_key[source] for source in rented]
        before = sum(share_of_hours(self.plan, one, inputs, arrival) for one in sources)
        before = before if before > _SHARE_WORTH_SAYING else 0.0
        first, later = split_rent(shares, rented, before)
        text = []
        if before:
            month = f"{self.results.calendar.month(arrival):%B %Y}"
            text.append(f"{first} of the hours are rented until the servers go live in {month}")
        if in_all - before > _SHARE_WORTH_SAYING:
            of_hours = "" if text else " of the hours"
            text.append(
                f"{later}{of_hours} are rented alongside the servers, so that fewer are needed "
                "for the busiest hours"
            )
        return f"{capitalize_first(', '.join(text))}." if text else ""

    def _why_idle(self) -> str:
        """How much of what is rented whole the work has a use for, where it is little."""
        rented = [part for part in self.facts.decision if part.action == "rent"]
        paid = sum(self._hours_paid(part.source) for part in rented)
        needed = sum(part.share_of_hours for part in rented) * float(self.plan.served_hours.sum())
        use = needed / paid if paid else 1.0
        if use > _WELL_USED or not self.results.inputs.whole_nodes:
            return ""
        hint = _SMALLER if self.results.request.workload.kind == "accelerator_hours" else ""
        text = f"Machines are rented whole: {use:.0%} of the accelerator-hours paid for are used."
        return f"{text}{hint}"

    def _hours_paid(self, source: str) -> float:
        """Accelerator-hours of the machines of a source, used or not."""
        inputs, hours = self.results.inputs, self.plan.used_hours[source]
        one = inputs.by_key[source]
        return float(hours.sum()) * one.accelerators * inputs.throughput[one.accelerator]

    def _first_service(self) -> int:
        """Month in which the first server bought serves."""
        owned = {p.source for p in self.facts.decision if p.action in OWNING}
        months = [r.month for r in self.plan.capacity if r.source in owned and r.hours_used > 0]
        return min(months, default=0)

    # Doubt ------------------------------------------------------------------------------------

    def contested(self, rival: tuple[ScenarioKey, float] | None) -> str:
        """Which plan is the cheapest in more outcomes, and why it is not advised."""
        risk, own = self.results.risk, self.facts.confidence
        if rival is None or risk is None or own is None:
            return ""
        key, chance = rival
        extra = risk.mean[key] - risk.mean[self.plan.key]
        theirs, ours = format_shares([chance, own])
        text = (
            f"{capitalize_first(SCENARIO_NAMES[key])} is the cheapest in {theirs} of the simulated "
            f"cases, this plan in {ours}"
        )
        if extra >= 0:
            return (
                f"{text}; it is not advised because it loses more in the cases where it loses: "
                f"over all cases it costs {self._money(extra)} more on average (present value)."
            )
        return (
            f"{text}, and {self._money(-extra)} less on average (present value): it is not "
            "advised because it costs more at the hours and prices given. Choose it if you doubt "
            "them."
        )

    def _money(self, amount: Decimal | float) -> str:
        return format_money(amount, self.results.request.currency)

    def _above(self, more: Decimal, less: Decimal) -> str:
        return format_difference(more, less, self.results.request.currency)

    def _between(self, ends: CostInterval) -> str:
        return f"{self._money(ends.p10).rpartition(' ')[0]} to {self._money(ends.p90)}"

"""What a plan has somebody do, part by part in the order of money. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

import numpy as np

from planner.contract.answer.common import Category
from planner.contract.answer.scenario import CostLine
from planner.contract.answer.verdict import Action, DecisionPart
from planner.contract.durations import format_duration
from planner.contract.money import format_money
from planner.contract.months import format_month
from planner.contract.place_limits import NOWHERE
from planner.contract.purchase_options import rented_how, savings_plan_label, traits
from planner.contract.shares import NOISE
from planner.costing.advice.part_words import choice_of_months, describe_starts, write_units
from planner.costing.advice.payback import OBLIGATIONS
from planner.costing.advice.shares import NONE, share_of_hours, shares_in_words
from planner.costing.cost_model.by_date import reserved_days
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.existing import SIGNED
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of
from planner.costing.run_peaks import Floats, nodes_at_once
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import get
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

NamePlace = Callable[[str, str], str]
"""(provider, region) → what people call the place."""

WHOLE = 1e-6
"""How far from a whole number of machines a quotient may be and still be one."""


def leave_unnamed(_provider: str, _region: str) -> str:
    """No name, for parts that nobody reads."""
    return ""


def list_parts(
    plan: Scenario,
    inputs: ModelInputs,
    name_place: NamePlace,
    currency: str,
    *,
    choice: str = "",
) -> tuple[DecisionPart, ...]:
    """The parts of a feasible plan, the one that most is paid for first; `choice` says of its
    months when in them the work may be done, where people choose."""
    costs, shares = _sum_lines(plan.lines), shares_in_words(plan, inputs)
    parts = []
    for source in inputs.sources:
        if not _takes_part(source, plan):
            continue
        cost = costs.get(source.key, _SourceCost())
        share = shares.get(source.key, NONE)
        rest = (name_place, currency, share, choice)
        part = _Part(plan, source, inputs, cost, *rest).build()
        parts.append((cost.paid, part))
    return tuple(part for _, part in sorted(parts, key=lambda row: (-row[0], row[1].source)))


def _takes_part(source: CapacitySource, plan: Scenario) -> bool:
    if source.key in plan.units_started or source.key in plan.used_hours:
        return True
    return source.existing is not None and bool(source.existing.any())


@dataclass
class _SourceCost:
    """What a plan pays for one source."""

    net: Decimal = Decimal("0.00")
    """Sum of its lines."""
    signed: Decimal = Decimal("0.00")
    """What the contract itself comes to, support and staff apart."""
    paid: Decimal = Decimal("0.00")
    """The same without income."""
    capital: dict[int, Decimal] | None = None
    """month → what is due when units start: invoices, upfront payments."""
    price: dict[int, Decimal] | None = None
    """month → what of it is the price of servers, which a loan may pay."""

    def due(self, month: int) -> Decimal | None:
        """What is due when the units of a month start; None where nothing is."""
        return (self.capital or {}).get(month)


_AT_START = CAPITAL | {Category.UPFRONT}


def _sum_lines(lines: Iterable[CostLine]) -> dict[str, _SourceCost]:
    costs: dict[str, _SourceCost] = defaultdict(_SourceCost)
    for line in lines:
        cost = costs[line.source]
        cost.net += line.amount
        cost.paid += max(line.amount, Decimal(0))
        if line.category in OBLIGATIONS | {Category.COMPUTE}:
            cost.signed += line.amount
        if line.category in _AT_START:
            cost.capital = cost.capital or defaultdict(Decimal)
            cost.capital[line.month] += line.amount
        if line.category is Category.CAPEX:
            cost.price = cost.price or defaultdict(Decimal)
            cost.price[line.month] += line.amount
    return costs


@dataclass(frozen=True)
class _Part:
    """One source of a plan as something to do."""

    plan: Scenario
    source: CapacitySource
    inputs: ModelInputs
    cost: _SourceCost
    name_place: NamePlace
    currency: str
    share_in_words: str
    """Of the hours."""
    choice: str = ""
    """When in its months the work may be done, where people choose."""

    def build(self) -> DecisionPart:
        source, units = self.source, self._units()
        place = self.name_place(source.provider, source.region) if source.provider else ""
        first, last = self._months()
        action = self._action()
        share = share_of_hours(self.plan, source, self.inputs)
        return DecisionPart(
            action=action,
            source=source.key,
            label=self._machine(),
            provider=source.provider,
            region=source.region,
            place=place,
            purchase_option=source.purchase_option,
            units=units,
            accelerators=units * source.accelerators,
            term_months=self._term_months(),
            starts=format_month(self._calendar.month(first)),
            last_start=format_month(self._calendar.month(last)),
            amount=self.cost.net,
            due_at_start=self.cost.due(first),
            share_of_hours=share,
            sentence="".join(self._words(action, units, place, first, last, share)),
        )

    @property
    def _calendar(self) -> Calendar:
        return self.inputs.calendar

    def _action(self) -> Action:
        source = self.source
        if source.existing is not None:
            return "keep"
        if source.is_owned:
            return "lease" if source.is_leased else "buy"
        option = traits(source.purchase_option)
        if option.is_paid_ahead:
            return "reserve"
        return "commit" if option.is_commitment else "rent"

    def _term_months(self) -> int | None:
        has_term = self._action() in ("commit", "lease")
        return self.source.term.duration_months if has_term else None  # type: ignore[union-attr]

    def _months(self) -> tuple[int, int]:
        """First and last month in which units start, or in which hours are rented."""
        started = self.plan.units_started.get(self.source.key)
        used = started if started is not None else self.plan.used_hours.get(self.source.key)
        busy = np.flatnonzero(used) if used is not None else np.zeros(0)
        return (int(busy[0]), int(busy[-1])) if len(busy) else (0, 0)

    def _units(self) -> float:
        """Units started or owned; most machines rented or reserved at once."""
        source, plan = self.source, self.plan
        if source.existing is not None:
            return float(source.existing.max())
        if source.key in plan.units_started:
            return float(plan.units_started[source.key].sum())
        return float(ceil(self._nodes() - WHOLE))

    def _nodes(self) -> float:
        """Most machines rented or reserved at once, parts of one too where they rent in parts."""
        hours = self.plan.used_hours[self.source.key]
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        nodes = nodes_at_once(hours, peak_hours)
        return float(nodes.max())

    def _machine(self) -> str:
        source = self.source
        if source.is_owned or source.instance_type in ("", NOWHERE):
            return source.label
        name = get(source.accelerator).name
        machine = source.label if source.instance_type == SIGNED else source.instance_type
        return f"{machine} ({source.accelerators:g} × {name})"

    # Words ------------------------------------------------------------------------------------

    def _words(
        self, action: Action, units: float, place: str, first: int, last: int, share: float
    ) -> Iterator[str]:
        """What to do, as the rest of a sentence that begins with the verb."""
        machine, where = self._machine(), f" in {place}" if place else ""
        if action == "keep":
            comma = "," if "," in machine else ""  # … DGX H100, already owned, for …
            yield f"keep {write_units(units)} × {machine}{comma} for {self.share_in_words}"
        elif action == "lease":
            lasts = pluralize(self._term_months() or 0, "month")
            yield f"lease {write_units(units)} × {machine}{self._starts()} for {lasts} "
            yield self._sum(first, beside=self.cost.due(first))
        elif action == "buy":
            yield f"buy {write_units(units)} × {machine}{self._starts()}"
            yield self._invoice(first, last)
        elif action == "commit":
            months = self._term_months()
            at_once, terms, when = self._renewals(units)
            yield f"sign a {months}-month {self._contract()} for {write_units(at_once)} × {machine}"
            yield f"{where}{when} {self._sum(first, terms)}"
        elif action == "reserve":
            yield f"reserve {self._up_to(units)}{machine} by date{where} "
            yield f"{self._when(first, last)}{self._days()} {self._sum(first)}"
        else:
            how = rented_how(self.source.purchase_option)
            is_all = share >= 1 - NOISE
            yield f"rent {self._up_to(units)}{machine} {how}{where}{self._how_long() * is_all} "
            yield self._while(first, last)
            yield "" if is_all else f" for {self.share_in_words}"

    def _sum(self, first: int, terms: int = 1, beside: Decimal | None = None) -> str:
        """What is signed for, what servers on lease need `beside` it, and what it comes to with
        support and staff; of a contract that counts for the months of the plan alone, those."""
        signed, net = self._money(self.cost.signed), self._money(self.cost.net)
        term = self.source.term
        if self.inputs.term_end == "prorate" and term is not None:
            share = float(term.share_charged[first])
            if share < 1 - NOISE:
                return f"({signed} counted here, for {share:.0%} of its term)"
        over = f" over {terms} terms" if terms > 1 else ""
        at_once = f", {self._money(beside)} at once for network and spares" if beside else ""
        to_sign = "" if signed == net else f"{signed} under contract{over}{at_once}, "
        return f"({to_sign}{net} in all)"

    def _starts(self) -> str:
        started = self.plan.units_started[self.source.key]
        return describe_starts(started.astype(float), self._calendar)

    def _renewals(self, units: float) -> tuple[float, int, str]:
        """Units signed for, terms and when: those of one term where each follows the one before."""
        started = self.plan.units_started[self.source.key]
        starts = np.flatnonzero(started)
        follow = bool((np.diff(starts) == self._term_months()).all())
        if len(starts) == 1 or not follow or len(set(started[starts])) > 1:
            return units, 1, self._starts()
        months = [f"{self._calendar.month(int(month)):%B %Y}" for month in starts]
        again = " and ".join(filter(None, (", ".join(months[1:-1]), months[-1])))
        return float(started[starts[0]]), len(months), f" in {months[0]}, renewed in {again}"

    def _at_peak(self) -> Floats | None:
        """[busy months] hours that what is rented works; None for whole months."""
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        at_peak = peak_hours[self.plan.used_hours[self.source.key] > 0]
        return None if float(at_peak.min()) >= HOURS_PER_MONTH - 1 else at_peak

    def _how_long(self) -> str:
        """For how many hours each machine works, or all where that varies; "" for whole months."""
        at_peak = self._at_peak()
        if at_peak is None:
            return ""
        if self._varies():
            node_hours = float(self.plan.used_hours[self.source.key].sum())
            return f" for {node_hours:,.0f} machine-hours" if node_hours >= 1 else ""
        each = " each" if self._nodes() > 1 + WHOLE else ""
        return f" for {format_duration(float(at_peak.sum()))}{each}"

    def _days(self) -> str:
        """For how many days in all, of a month no more than it has; "" for whole months."""
        if self._at_peak() is None:
            return ""
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        days = reserved_days(peak_hours, self._calendar.start)
        busy = self.plan.used_hours[self.source.key] > 0
        return f" for {pluralize(int(days[busy].sum()), 'day')}"

    def _varies(self) -> bool:
        """Whether some months take more of it than others."""
        hours = self.plan.used_hours[self.source.key]
        busy = hours[hours > 0]
        return len(busy) > 1 and float(busy.max() - busy.min()) > WHOLE * float(busy.max())

    def _up_to(self, units: float) -> str:
        up_to = "up to " if self._varies() else ""
        part = self._nodes() if units == 1 and not self.inputs.whole_nodes else 1.0
        return f"{up_to}{part:.0%} of 1 × " if part < 1 else f"{up_to}{write_units(units)} × "

    def _when(self, first: int, last: int) -> str:
        start, end = (f"{self._calendar.month(month):%B %Y}" for month in (first, last))
        return f"in {start}" if first == last else f"from {start} to {end}"

    def _while(self, first: int, last: int) -> str:
        """The months of renting; without an end where it goes on to the horizon's."""
        choice = choice_of_months(self.choice, self.plan, self.inputs, self.source)
        if choice:
            return f"{choice} {self._when(first, last)}"
        start = f"{self._calendar.month(first):%B %Y}"
        is_to_the_end = last == self._calendar.months - 1 > first
        return f"from {start}" if is_to_the_end else self._when(first, last)

    def _invoice(self, first: int, last: int) -> str:
        due = self.cost.due(first)
        if due is None:
            return ""
        which = "" if first == last else "first invoice "
        return f" ({which}{self._money(due)} with network and spares{self._borrowed(first, due)})"

    def _borrowed(self, first: int, due: Decimal) -> str:
        """What of the first invoices is paid at once, and what under which contract."""
        server = self.inputs.servers.by_key.get(self.source.key)
        terms = None if server is None else server.financing
        if terms is None:
            return ""
        price = (self.cost.price or {}).get(first, Decimal(0))
        borrowed = price * (1 - Decimal(str(terms.deposit_rate)))
        contract = f"{terms.title.lower()} over {pluralize(terms.months, 'month')}"
        return f": {self._money(due - borrowed)} at once, {self._money(borrowed)} by {contract}"

    def _contract(self) -> str:
        option = self.source.purchase_option
        if option == PurchaseOption.SAVINGS_PLAN and self.source.offer is not None:
            return savings_plan_label(self.source.offer.sku)
        contracts = {
            PurchaseOption.RESERVED: "reservation",
            PurchaseOption.RESERVED_CONVERTIBLE: "convertible reservation",
            PurchaseOption.COMMITTED_USE: "committed-use contract",
        }
        return contracts.get(PurchaseOption(option), traits(option).label)

    def _money(self, amount: Decimal) -> str:
        return format_money(amount, self.currency)

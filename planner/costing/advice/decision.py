"""What a plan has somebody do, part by part in the order of money. PURE."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import NOISE, format_duration, format_money, format_month
from planner.contract.answer.common import Category
from planner.contract.answer.scenario import CostLine
from planner.contract.answer.verdict import Action, DecisionPart
from planner.contract.labels import NOT_COUNTED, rented_how, savings_plan_label, traits
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import NOWHERE
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.cost_model.rental import reserved_days
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.existing import SIGNED
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of
from planner.costing.run_peaks import Floats, nodes_at_once
from pricing.common.words import capitalize_first, pluralize
from pricing.market.accelerators import get
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

OBLIGATIONS = frozenset({Category.COMMITMENT, Category.UPFRONT, Category.LEASE})
"""What a commitment or a lease itself is paid with."""

NamePlace = Callable[[str, str], str]
"""(provider, region) → what people call the place."""

OWNING = ("buy", "lease")
"""What is done to have servers of one's own."""
_FORM = re.compile(r"( (SXM|OAM)\d*| PCIe)?( \d+ GB)?$")
_SIZE = re.compile(r" \((\d+x|lease of) [^)]*\)")
"""What a sentence leaves out of the name of an accelerator, and of a server."""

WHOLE = 1e-6
"""How far from a whole number of machines a quotient may be and still be one."""


def leave_unnamed(_provider: str, _region: str) -> str:
    """No name, for parts that nobody reads."""
    return ""


def shorten_place(provider: str, place: str) -> str:
    """A place as a sentence names it: of Amazon's regions the city alone, where it is one.

    >>> shorten_place("aws", "AWS US East (N. Virginia)"), shorten_place("azure", "Azure East US")
    ('AWS N. Virginia', 'Azure East US')
    >>> shorten_place("aws", "AWS Local Zone Dallas (us-east-1)")
    'AWS Local Zone Dallas'
    >>> shorten_place("aws", "AWS Canada (Central)")
    'AWS Canada Central'
    >>> shorten_place("gcp", "Google Cloud us-central1 (Council Bluffs)")
    'Google Cloud us-central1'
    """
    region, _, city = place.rstrip(")").partition(" (")
    is_named = provider == "aws" and city and not city.islower()
    if is_named and city != "Central":
        region = region.split()[0]
    return f"{region} {city}" if is_named else region


def list_parts(
    plan: Scenario, inputs: ModelInputs, name_place: NamePlace, currency: str
) -> tuple[DecisionPart, ...]:
    """The parts of a feasible plan: servers, then the rest, each the dearest first."""
    costs = _sum_lines(plan.lines)
    parts = []
    for source in inputs.sources:
        is_used = source.key in plan.units_started or source.key in plan.used_hours
        if not is_used and (source.existing is None or not source.existing.any()):
            continue
        cost = costs.get(source.key, _SourceCost())
        part = _Part(plan, source, inputs, cost, name_place, currency).build()
        parts.append((cost.paid, part))
    order = sorted(parts, key=lambda row: (row[1].action not in OWNING, -row[0], row[1].source))
    return tuple(part for _, part in order)


@dataclass
class _SourceCost:
    net: Decimal = Decimal("0.00")
    """Sum of its lines."""
    paid: Decimal = Decimal("0.00")
    """The same without income."""
    capital: dict[int, Decimal] | None = None
    """month → what is due when units start: invoices, upfront payments."""
    price: dict[int, Decimal] | None = None
    """month → what of it is the price of servers, which a loan may pay."""

    def due(self, month: int) -> Decimal | None:
        return (self.capital or {}).get(month)


_AT_START = CAPITAL | {Category.UPFRONT}


def _sum_lines(lines: Iterable[CostLine]) -> dict[str, _SourceCost]:
    costs: dict[str, _SourceCost] = defaultdict(_SourceCost)
    for line in lines:
        cost = costs[line.source]
        cost.net += line.amount
        cost.paid += max(line.amount, Decimal(0))
        if line.category in _AT_START:
            cost.capital = cost.capital or defaultdict(Decimal)
            cost.capital[line.month] += line.amount
        if line.category is Category.CAPEX:
            cost.price = cost.price or defaultdict(Decimal)
            cost.price[line.month] += line.amount
    return costs


@dataclass(frozen=True)
class _Part:
    plan: Scenario
    source: CapacitySource
    inputs: ModelInputs
    cost: _SourceCost
    name_place: NamePlace
    currency: str
    """Of the hours."""

    def build(self) -> DecisionPart:
        source, units = self.source, self._units()
        place = self.name_place(source.provider, source.place) if source.provider else ""
        where = shorten_place(source.provider, place)
        first, last = self._months()
        action = self._action()
        share = share_of_hours(self.plan, source, self.inputs)
        most = self._at_busiest() if action == "rent" else units
        return DecisionPart(
            action=action,
            source=source.key,
            label=self._machine(),
            provider=source.provider,
            region=source.region,
            place=place,
            purchase_option=source.purchase_option,
            units=most,
            accelerators=most * source.accelerators,
            term_months=self._term_months(),
            starts=format_month(self._calendar.month(first)),
            last_start=format_month(self._calendar.month(last)),
            amount=self.cost.net,
            due_at_start=self.cost.due(first),
            share_of_hours=share,
            sentence="".join(self._words(action, units, where, first, last, share)),
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
        started = self.plan.units_started.get(self.source.key)
        used = started if started is not None else self.plan.used_hours.get(self.source.key)
        busy = np.flatnonzero(used) if used is not None else np.zeros(0)
        return (int(busy[0]), int(busy[-1])) if len(busy) else (0, 0)

    def _units(self) -> float:
        source, plan = self.source, self.plan
        if source.existing is not None:
            return float(source.existing.max())
        if source.key in plan.units_started:
            return float(plan.units_started[source.key].sum())
        return float(ceil(self._nodes() - WHOLE))

    def _at_busiest(self) -> float:
        more = self.inputs.beyond_peak.get(self.source.accelerator, 0) / self.source.accelerators
        return float(ceil(self._nodes() + more - WHOLE))

    def _nodes(self) -> float:
        hours = self.plan.used_hours[self.source.key]
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        nodes = nodes_at_once(hours, peak_hours)
        return float(nodes.max())

    def _machine(self) -> str:
        source = self.source
        name = _FORM.sub("", get(source.accelerator).name)
        if source.is_owned or source.instance_type in ("", NOWHERE):
            bare = _SIZE.sub("", source.label)
            return bare if name in bare else source.label
        machine = source.label if source.instance_type == SIGNED else source.instance_type
        return f"{machine} ({source.accelerators:g} × {name})"

    # Words ------------------------------------------------------------------------------------

    def _words(
        self, action: Action, units: float, place: str, first: int, last: int, share: float
    ) -> Iterator[str]:
        machine, where = self._machine(), f" in {place}" if place else ""
        if action == "keep":
            yield f"keep {write_units(units)} × {machine}"
        elif action == "lease":
            lasts = pluralize(self._term_months() or 0, "month")
            at_once, when = self._starts()
            yield f"lease {write_units(at_once)} × {machine}{when} for {lasts}"
        elif action == "buy":
            at_once, when = self._starts()
            yield f"buy {write_units(at_once)} × {machine}{when}{self._borrowed(first)}"
        elif action == "commit":
            months = self._term_months()
            at_once, when = self._renewals()
            yield f"sign a {months}-month {self._contract()} for {write_units(at_once)} × {machine}"
            yield f"{where}{when}"
        elif action == "reserve":
            yield f"reserve {self._up_to(units)}{machine} by date{where}"
            yield f"{self._when(first, last)}{self._days()}"
        else:
            how = rented_how(self.source.purchase_option)
            lasts = self._how_long() if share >= 1 - NOISE else ""
            most, busiest = self._at_busiest(), ""
            if most > units:
                busiest = f" around the clock, up to {write_units(most)} at the busiest,"
            yield f"rent {self._up_to(units)}{machine}{busiest} {how}{where}{lasts}"
            yield self._when(first, last).replace(" until ", " by " if lasts else " until ")

    def _starts(self) -> tuple[float, str]:
        started = self.plan.units_started[self.source.key]
        return describe_starts(started.astype(float), self._calendar)

    def _renewals(self) -> tuple[float, str]:
        started = self.plan.units_started[self.source.key]
        starts = np.flatnonzero(started)
        follow = bool((np.diff(starts) == self._term_months()).all())
        if len(starts) == 1 or not follow or len(set(started[starts])) > 1:
            return self._starts()
        months = [f"{self._calendar.month(int(month)):%B %Y}" for month in starts]
        again = " and ".join(filter(None, (", ".join(months[1:-1]), months[-1])))
        return float(started[starts[0]]), f" in {months[0]}, renewed in {again}"

    def _at_peak(self) -> Floats | None:
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        at_peak = peak_hours[self.plan.used_hours[self.source.key] > 0]
        return None if float(at_peak.min()) >= HOURS_PER_MONTH - 1 else at_peak

    def _how_long(self) -> str:
        at_peak = self._at_peak()
        if at_peak is None:
            return ""
        if self._varies():
            node_hours = float(self.plan.used_hours[self.source.key].sum())
            return f" for {node_hours:,.0f} machine-hours" if node_hours >= 1 else ""
        each = " each" if self._nodes() > 1 + WHOLE else ""
        return f" for {format_duration(float(at_peak.sum()))}{each}"

    def _days(self) -> str:
        if self._at_peak() is None:
            return ""
        peak_hours = peak_hours_of(self.plan, self.inputs, self.source)
        hours = self.plan.used_hours[self.source.key]
        nodes = np.ceil(nodes_at_once(hours, peak_hours) - WHOLE)
        hours = np.divide(hours, nodes, out=np.zeros_like(hours), where=nodes > 0)
        days = reserved_days(hours, self._calendar.start)
        orders = Counter(days[days > 0].astype(int).tolist()).items()
        parts = [f"{count} × {each}" if count > 1 else f"{each}" for each, count in orders]
        days_sold = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        limits = traits(self.source.purchase_option).date_limits
        is_split = limits and np.any((days > limits.single_days) & (days % 7 > 0))
        blocks = f", in blocks of at most {limits.single_days} days" if limits and is_split else ""
        return f" for {days_sold} {'day' if days_sold == '1' else 'days'}{blocks}"

    def _varies(self) -> bool:
        hours = self.plan.used_hours[self.source.key]
        busy = hours[hours > 0]
        return len(busy) > 1 and float(busy.max() - busy.min()) > WHOLE * float(busy.max())

    def _up_to(self, units: float) -> str:
        up_to = "up to " if self._varies() and units > 1 else ""
        part = self._nodes() if units == 1 and not self.inputs.whole_nodes else 1.0
        return "part of 1 × " if part < 1 else f"{up_to}{write_units(units)} × "

    def _when(self, first: int, last: int) -> str:
        start, end = (f"{self._calendar.month(month):%B %Y}" for month in (first, last))
        if first == last:
            return f" in {start}"
        if last == self._calendar.months - 1:
            return f" from {start}" if first else ""
        return f" from {start} to {end}" if first else f" until {end}"

    def _borrowed(self, first: int) -> str:
        server = self.inputs.servers.by_key.get(self.source.key)
        terms = None if server is None else server.financing
        if terms is None:
            return ""
        price = (self.cost.price or {}).get(first, Decimal(0))
        borrowed = price * (1 - Decimal(str(terms.deposit_rate)))
        amount = format_money(borrowed, self.currency)
        return f" ({terms.months}-month {terms.title.lower()} of {amount})"

    def _contract(self) -> str:
        option = self.source.purchase_option
        if option == PurchaseOption.SAVINGS_PLAN and self.source.offer is not None:
            return savings_plan_label(self.source.offer.sku)
        return name_contract(option)


def name_contract(option: str) -> str:
    """A commitment as a sentence calls it.

    >>> name_contract("reserved"), name_contract("savings_plan")
    ('reservation', 'savings plan')
    """
    contracts = {
        PurchaseOption.RESERVED: "reservation",
        PurchaseOption.RESERVED_CONVERTIBLE: "convertible reservation",
        PurchaseOption.COMMITTED_USE: "committed-use contract",
    }
    return contracts.get(PurchaseOption(option), traits(option).label.lower())


def share_of_hours(plan: Scenario, source: CapacitySource, inputs: ModelInputs) -> float:
    """Share of the plan's accelerator-hours that a source serves: of machines that rent whole what
    the demand needs of them, so that the shares of all sources sum to 1."""
    hours = plan.used_hours.get(source.key)
    total_hours = float(plan.served_hours.sum())
    if hours is None or total_hours <= 0:
        return 0.0
    if source.term is None:
        hours = hours * _needed_share_of_rent(plan, inputs)
    return float(hours.sum()) * source.capacity / total_hours


def _needed_share_of_rent(plan: Scenario, inputs: ModelInputs) -> NDArray[np.float64]:
    needed = np.array(plan.served_hours, dtype=np.float64)
    rented = np.zeros(inputs.calendar.months)
    for key, hours in plan.used_hours.items():
        source = inputs.by_key[key]
        if source.term is None:
            rented += hours * source.capacity
        else:
            needed -= hours * source.capacity
    needed = np.maximum(needed, 0.0)
    return np.divide(needed, rented, out=np.ones_like(rented), where=rented > needed)


RENTING = frozenset({"rent", "reserve"})
"""What is done to have machines for some hours."""
MANY_MACHINES = 32
"""Machines rented by the hour at once for which capacity is a contract of its own: half of the
largest Capacity Block (EC2 user guide, Capacity Blocks for ML, 2025)."""
MOST_STARTS, MOST_PARTS = 2, 2
"""Months and parts named one by one in a sentence at most; an assumption of this project, 2026."""


def write_units(units: float) -> str:
    """
    >>> write_units(8.0), write_units(13_698_630.0)
    ('8', '13,698,630')
    """
    return f"{units:,.10g}"


def describe_starts(started: Floats, calendar: Calendar) -> tuple[float, str]:
    """How many are bought or signed for, and when, after what it is: ` in May 2027`; in a few
    months all of them and how many in each; in more those of the first month, then the others."""
    starts = [
        (f"{calendar.month(int(month)):%B %Y}", float(started[month]))
        for month in np.flatnonzero(started)
    ]
    (first, at_once), total = starts[0], float(started.sum())
    if len(starts) == 1:
        return total, f" in {first}"
    if len(starts) > MOST_STARTS:
        return at_once, f" in {first} ({write_units(total - at_once)} more by {starts[-1][0]})"
    each = [f"{write_units(units)} in {month}" for month, units in starts]
    return total, f", {', '.join(each[:-1])} and {each[-1]}"


BINDING = frozenset({"buy", "lease", "commit", "reserve"})
"""What is paid for whether or not it is used."""
NAMED_FROM = Decimal("0.05")
"""Share of the cost from which a part is named, whether or not it binds; a choice of this project,
2026."""


def _split_parts(parts: Iterable[DecisionPart]) -> tuple[list[DecisionPart], list[DecisionPart]]:
    """The parts that a sentence names, and the others: of more than two, those bought or signed for
    or reserved are named, and what is rented if it is dearer; one more, unless it is rented."""
    every = list(parts)
    most = max((p.amount for p in every if p.action != "rent"), default=Decimal("-Infinity"))
    main = [part for part in every if part.action != "rent" or part.amount > most]
    named = every if len(every) <= MOST_PARTS else main[:MOST_PARTS]
    more = [part for part in every if part not in named]
    if len(more) == 1 and more[0].action != "rent":
        return [*named, *more], []
    return named, more


def describe_parts(parts: Iterable[DecisionPart]) -> str:
    """The parts as one sentence without its full stop: what is bought or signed first and then in
    order of time. Of the others it counts the orders; what is only rented is the rest."""
    named, more = _split_parts(parts)
    named.sort(key=lambda part: part.starts if part.action in RENTING else "")
    orders = sum(part.action in BINDING for part in more)
    others = {part.action for part in more}
    shown = [
        *(part.sentence for part in named),
        *([f"place {pluralize(orders, 'further order')}"] if orders else []),
        *(["keep what is already there"] if "keep" in others else []),
        *(["rent the rest"] if "rent" in others else []),
    ]
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return capitalize_first(text)


def describe_orders(parts: Iterable[DecisionPart], currency: str) -> str:
    """What `describe_parts` does not name and either binds or is at least `NAMED_FROM` of the cost,
    each with what it costs; empty for nothing."""
    every = list(parts)
    least = sum((part.amount for part in every), Decimal(0)) * NAMED_FROM
    listed = [
        f"{part.sentence} ({format_money(part.amount, currency)})"
        for part in _split_parts(every)[1]
        if part.action in BINDING or part.amount >= least
    ]
    return f"Orders: {'; '.join(listed)}." if listed else ""


_WORDS: Mapping[str, frozenset[Category]] = {
    "storing and moving data": frozenset({Category.STORAGE, Category.EGRESS}),
    "other costs": frozenset({Category.OTHER}),
    "a minimum spend not reached": frozenset({Category.SHORTFALL}),
}
WORTH_SAYING = Decimal("0.1")
"""Share of what is paid from which it stands in the verdict; a choice of this project, 2026."""


def describe_beside(plan: Scenario, tax_rate: float, currency: str) -> Iterator[str]:
    """What is paid for data, for other costs and for nothing, and what credits take off; nothing
    where that is a small part."""
    paid = [line for line in plan.lines if line.amount > 0 and line.category is not Category.TAX]
    least = sum((line.amount for line in paid), Decimal(0)) * WORTH_SAYING
    before = " before tax" if tax_rate else ""
    parts = []
    for words, categories in _WORDS.items():
        amount = sum((line.amount for line in paid if line.category in categories), Decimal(0))
        if amount and amount >= least:
            parts.append(f"{format_money(amount, currency).rpartition(' ')[0]}{before} for {words}")
    if parts:
        yield f"including {' and '.join(parts)}"
    used = -sum((one.amount for one in plan.lines if one.category is Category.CREDIT), Decimal(0))
    if used and used >= least:
        yield f"net of {format_money(used, currency).rpartition(' ')[0]}{before} of credits"


# What is owed after the plan ---------------------------------------------------------------


def describe_due_later(
    plan: Scenario, parts: Iterable[DecisionPart], calendar: Calendar, currency: str
) -> Iterator[str]:
    """What of the total each contract, lease or loan costs after the last month of the plan."""
    last = calendar.month(calendar.months - 1)
    for part in parts:
        late = [x for x in plan.lines if x.source == part.source and x.month >= calendar.months]
        if late and (owed := sum((line.amount for line in late), Decimal(0))) > 0:
            end = calendar.month(max(line.month for line in late))
            what = f"{write_units(part.units or 1)} × {part.label}"
            yield (
                f"{format_money(owed, currency)} of the cost as stated is due after "
                f"{last:%B %Y}, until {end:%B %Y}, for {what}."
            )


def describe_owed(plan: Scenario, inputs: ModelInputs, request: ComparisonRequest) -> str:
    """What contracts that are there already cost after the last month of the plan, after tax and
    beyond its total; empty where part of the total is owed then, which has its own figure."""
    existing, calendar = request.existing, inputs.calendar
    prices = [(one.price_per_month * one.units, one.ends) for one in existing.commitments]
    prices += [(one.rent_per_month * one.units, one.ends) for one in existing.leased_servers]
    owed = sum(price * max(0, calendar.index(end) + 1 - calendar.months) for price, end in prices)
    if not owed or plan.owed_after or inputs.term_end == "full":
        return ""
    more = format_money(owed * (1.0 - calendar.tax_rate), request.currency)
    last = calendar.month(calendar.months - 1)
    return f"{more} more is owed after {last:%B %Y}{NOT_COUNTED}."

"""What moves the expected cost, and where the advice turns: one table of drivers. PURE.

A driver is held at a value v in the outcomes in which plans are chosen, all else as drawn. With
C_p(v) [N] what plan p costs in them,

    expected cost at v = that of the answer + mean of C_advised(v) − C_advised as drawn
    advice at v = what the rules of choice (`costing.choice`) pick from all C_p(v)

C is costed at a few values and lies on straight lines between: exact for prices and rates, close
for hours, delivery and the length of the need. The turn is the value nearest to today's beyond
which another plan is advised, to within 0.1 % of the way. Plans are those known: nothing is solved.
Its chance is the share of the outcomes, as drawn, beyond the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.comparison.results import FEW_OUTCOMES, SMALL_SHARE, ComparisonResults
from planner.contract.answer.risk import Driver
from planner.contract.copies import cached_property, replace
from planner.contract.labels import ON_DEMAND, OWNED, SPOT, accelerator_name
from planner.costing.analysis.outcomes import Outcomes, draw_ends
from planner.costing.analysis.plan_costs import PlanCosts
from planner.costing.analysis.simulation import Simulation, cost_plans
from planner.costing.assumptions.assumptions import Assumption, all_defaults
from planner.costing.assumptions.server_lead_times import quoted_lead_months
from planner.costing.choice import Candidate, Choice, choose_at, part_of
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import (
    P90_DEVIATIONS,
    DeliveryRisk,
    PriceRange,
    ServerToBuy,
)
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import cents
from pricing.common.words import pluralize

Floats = NDArray[np.float64]
Hold = Callable[[float], Simulation]
"""The outcomes in which a driver has one value."""
DEFAULT_CHANGE = 0.2
"""Share by which a figure that the request gives is moved: an assumption of this project."""
FURTHEST = 2.0
"""Times its value, or share of it, to which a figure is moved in search of a turn."""
MOST_PLANS = 8
"""Plans that are held against each other, the advised one first."""
HALVINGS = 10
MOST_TURNS = 3
UNKNOWN_CHANCE = 0.05
"""Rank of a turn whose chance nothing says."""
ASSUMPTIONS = {
    "electricity_per_kwh": "for electricity",
    "colocation_per_kw_month": "for colocation",
    "staff_cost_per_year": "for staff",
    "discount_rate_per_year": "as discount rate",
}
"""Figures of the request that are drivers, and what they are called in a sentence."""
_DOING = {"buy": "buying ", "lease": "leasing ", "sign": "signing ", "reserve": "reserving "}
BY_OUTCOMES = "p10 to p90 of the simulated outcomes"


def build_drivers(results: ComparisonResults) -> tuple[Driver, ...]:
    """The rows that move the expected cost or turn the advice, the furthest reaching first; those
    that the work left allows for."""
    choice, simulation = results.choice, results.simulation
    if choice is None or simulation is None or results.is_small or not results.request.sensitivity:
        return ()
    rows: list[Driver] = []
    table = _Table(results, simulation, choice)
    part = results.parts["drivers"] = results.work.share(SMALL_SHARE)
    with suppress(WorkSpentError):
        for held in table.list_held():
            row = table.build(held, part)
            if row.effect > 1.0 or row.sentence:
                rows.append(row)
    # Beyond nine digits lies what rounding leaves: there the order of the drivers holds.
    return tuple(sorted(rows, key=lambda row: -float(f"{row.effect:.9g}")))


def list_turns(drivers: Sequence[Driver]) -> tuple[str, ...]:
    """What would turn the advice, the likeliest first; what will not happen is left out."""
    rows = [row for row in drivers if row.sentence and (row.chance is None or row.chance >= 0.01)]
    rows.sort(key=lambda row: -(UNKNOWN_CHANCE if row.chance is None else row.chance))
    return tuple(row.sentence for row in rows[:MOST_TURNS])


@dataclass(frozen=True)
class _Held:
    field: str
    label: str
    unit: str
    value: float
    low: float
    high: float
    source: str
    hold: Hold
    words: str
    """What a value is of, in a sentence: `for p5.48xlarge on demand`."""
    costed: Sequence[float]
    """Values at which plans are costed, ascending."""
    reach: Collection[float] = ()
    """Further values at which the advice is looked at."""
    draws: Floats | None = None
    """[N] value in each outcome; None: nothing says how likely another one is."""
    is_as_drawn: bool = False
    """Whether it has its value of today in all outcomes."""

    @property
    def scanned(self) -> list[float]:
        return sorted({*self.costed, *self.reach, self.low, self.value, self.high})


@dataclass(frozen=True)
class _Costs:
    values: Sequence[float]
    costs: Sequence[Floats]
    """[3, P, N] at each of the values."""

    def at(self, value: float) -> Floats:
        if len(self.values) == 1:
            return self.costs[0]
        i = min(max(int(np.searchsorted(self.values, value)), 1), len(self.values) - 1)
        before, after = self.values[i - 1], self.values[i]
        share = (value - before) / (after - before)
        return self.costs[i - 1] * (1.0 - share) + self.costs[i] * share


@dataclass(frozen=True)
class _Table:
    results: ComparisonResults
    drawn: Simulation
    choice: Choice

    @cached_property
    def few(self) -> Simulation:
        """As many of the outcomes as tell plans apart."""
        n = len(self.drawn.outcomes.slip)
        rows = np.arange(0, n, max(1, n // FEW_OUTCOMES))
        return replace(self.drawn, outcomes=self.drawn.outcomes.select(rows))

    @cached_property
    def measured(self) -> list[PlanCosts]:
        """The plans as outcomes see them."""
        return self.few.measure([one.plan for one in self.candidates])

    @property
    def inputs(self) -> ModelInputs:
        return self.results.inputs

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The advised plan, the plans that its parts are held against, then the cheapest."""
        choice = self.choice
        cheapest = np.argsort(choice.expected, kind="stable").tolist()
        wanted = [choice.index, *choice.best_rivals_of(choice.index)]
        for i in cheapest:
            wanted += [i, *choice.best_rivals_of(i)]
        return [choice.candidates[i] for i in list(dict.fromkeys(wanted))[:MOST_PLANS]]

    @cached_property
    def used(self) -> dict[str, float]:
        """source key → node-hours or units in all plans, what the advised one has first."""
        used: dict[str, float] = {}
        for candidate in self.candidates:
            for key, row in (
                *candidate.plan.used_hours.items(),
                *candidate.plan.units_started.items(),
            ):
                used.setdefault(key, float(row.sum()))
        return used

    def find_main(self, options: Collection[str]) -> CapacitySource | None:
        """What most is used of in the first plan that has any of it."""
        for candidate in self.candidates:
            used = [
                source
                for source in candidate.used
                if source.purchase_option in options
                and source.existing is None
                and not source.is_leased
            ]
            if used:
                return max(used, key=lambda s: self.used[s.key])
        return None

    # Rows -------------------------------------------------------------------------------------

    def build(self, held: _Held, work: WorkMeter) -> Driver:
        """The row of a driver."""
        costs = _Costs(held.costed, [self._cost(held, value, work) for value in held.costed])

        def advise(value: float) -> int:
            at = costs.at(value)
            budget = self.inputs.total_budget
            return choose_at(self.candidates, at, budget, self.results.terms).index

        ends = [self.expect(costs.at(v)) for v in (held.low, held.high)]
        turn = _find_turn(held, advise)
        row = Driver(
            field=held.field,
            label=held.label,
            unit=held.unit,
            value=_digits(held.value),
            low=_digits(held.low),
            high=_digits(held.high),
            source=held.source,
            expected_at_low=ends[0],
            expected_at_high=ends[1],
            advice_at_low=self.name_advice(advise(held.low)),
            advice_at_high=self.name_advice(advise(held.high)),
        )
        if turn is None:
            return row
        at, is_below, index = turn
        advice = self.name_advice(index)
        side = "Below" if is_below else "Above"
        chance = None
        if held.draws is not None:
            chance = float((held.draws < at if is_below else held.draws > at).mean())
        return row.model_copy(
            update={
                "turns_at": _digits(at),
                "chance": chance,
                "sentence": f"{side} {_show(at, held.unit)} {held.words}, {advice}.",
            }
        )

    def _cost(self, held: _Held, value: float, work: WorkMeter) -> Floats:
        if value == held.value and held.is_as_drawn:
            return self.as_drawn
        some, measured = held.hold(value), self.measured
        if some.inputs is not self.inputs:
            measured = some.measure([one.plan for one in self.candidates])
        return cost_plans(measured, some.market, some.outcomes, work=work)

    def expect(self, costs: Floats) -> Decimal:
        """Expected cost, undiscounted, of the advised plan at [3, P, N] costs in few outcomes: what
        they add to what it costs in the same outcomes as drawn, on top of that in all."""
        moved = costs[1, 0] - self.as_drawn[1, 0]
        return cents(float(self.choice.total[self.choice.index].mean() + moved.mean()))

    @cached_property
    def as_drawn(self) -> Floats:
        """[3, P, N] what the plans cost with nothing held."""
        return cost_plans(self.measured, self.few.market, self.few.outcomes)

    def name_advice(self, index: int) -> str:
        """What a plan would have somebody do; told apart from what is advised by its machine, or
        by what it does without."""
        parts, advised = (_name_parts(self.candidates[i]) for i in (index, 0))
        words = name_change(parts, advised)
        if not index or parts != advised:
            return words
        own = {source.key for source in self.candidates[0].used}
        others = [s for s in self.candidates[index].used if s.key not in own]
        if not others:
            return f"{words} at other times"
        most = max(others, key=lambda s: self.used[s.key])
        return f"{words}, with {most.label}"

    def list_held(self) -> Iterator[_Held]:
        """The drivers of these plans."""
        yield self._hours()
        for options, name in ((ON_DEMAND, "on demand"), (SPOT, "on spot")):
            rent = self.find_main(options)
            if rent is not None and rent.price_per_hour:
                yield self._rent(rent, options, name)
        source = self.find_main({OWNED})
        server = source and self.inputs.servers.by_key.get(source.key)
        if source is not None and server:
            yield self._server_price(server)
            if not server.comes_from_stock:
                yield from self._delivery(source, server)
            yield self._resale(source)
        for row in self.inputs.assumptions.rows:
            if row.name in ASSUMPTIONS:
                yield from self._assumption(row)
        yield from self._length()
        if self.drawn.parameters.end_probability:
            yield self._project_end(self.drawn.parameters.end_probability)

    def _with(self, **changes: Any) -> Simulation:
        return replace(self.few, outcomes=replace(self.few.outcomes, **changes))

    def _hours(self) -> _Held:
        kind = self.results.main_accelerator
        outcomes, hours = self.drawn.outcomes, self.inputs.hours / self.inputs.throughput[kind]
        total, n = float(hours.sum()), len(self.few.outcomes.slip)
        factors = replace(outcomes, ends=None).demand(slice(None)) @ hours / total
        low, high = np.percentile(factors, (10, 90)).tolist()

        name = accelerator_name(kind)
        costed = sorted({total / FURTHEST, low * total, high * total, total * FURTHEST})

        def hold(value: float) -> Simulation:
            growth, factor = np.ones_like(self.few.outcomes.growth), value / total
            if self.inputs.is_level:
                return self._with(growth=growth * factor, level=None)
            return self._with(growth=growth, level=np.full(n, factor))

        return _Held(
            "workload.hours", f"Hours of {name}", "accelerator-hours", total, low * total,
            high * total, BY_OUTCOMES, hold, f"of work on {name}", costed, (), factors * total,
        )  # fmt: skip

    def _rent(self, rent: CapacitySource, options: Collection[str], name: str) -> _Held:
        of_source, price = self.drawn.drivers.of_source, rent.price_per_hour
        moved = {one.key for one in self.inputs.by_key.values() if one.purchase_option in options}
        rows = sorted({of_source[key] for key in of_source.keys() & moved})
        paths = self.drawn.outcomes.prices[of_source[rent.key], :, :-1].mean(axis=1) * price
        low, high, source = _range_of(paths, price)

        def hold(value: float) -> Simulation:
            prices = self.few.outcomes.prices.copy()
            prices[rows] = value / price
            return self._with(prices=prices)

        machine = rent.label if rent.instance_type in ("", "custom") else rent.instance_type
        unit = f"{self.results.request.currency}/h"
        return _Held(
            f"rental_prices.{name.removeprefix('on ')}", f"Rent {name}, {machine}", unit, price,
            low, high, source, hold, f"for {machine} {name}", (low, high), _reach(price), paths,
        )  # fmt: skip

    def _hold_servers(self, outcomes: Outcomes, **changes: Any) -> Simulation:
        inputs = self.inputs.with_servers(
            tuple(replace(one, **changes) for one in self.inputs.servers.to_buy)
        )
        return replace(self.few.with_inputs(inputs), outcomes=outcomes)

    def _server_price(self, server: ServerToBuy) -> _Held:
        ends, price = server.price_range, server.unit_price
        low, high = 1 - DEFAULT_CHANGE, 1 + DEFAULT_CHANGE
        if ends is not None:
            low, high = ends.low, ends.high
        normal, draws = np.full(len(self.few.outcomes.slip), P90_DEVIATIONS), None
        if ends is not None and self.drawn.outcomes.server_price is not None:
            draws = ends.factors(self.drawn.outcomes.server_price) * price

        def hold(value: float) -> Simulation:
            held = PriceRange(1.0, value / price)
            outcomes = replace(self.few.outcomes, server_price=normal)
            return self._hold_servers(outcomes, price_range=held)

        source = "20% around the price stated" if ends is None else "dated quotes of two years"
        return _Held(
            "on_prem.servers.unit_price", f"Price of {server.label}",
            self.results.request.currency, price, low * price, high * price, source, hold,
            f"for {server.label}", (low * price, high * price), _reach(price), draws,
        )  # fmt: skip

    def _delivery(self, source: CapacitySource, server: ServerToBuy) -> Iterator[_Held]:
        assert source.term is not None
        lead, draws = source.term.lead_months, None
        ends = quoted_lead_months(np.array([-P90_DEVIATIONS, P90_DEVIATIONS]))
        normal = self.drawn.outcomes.delivery
        if server.delivery is not None and normal is not None:
            draws = lead + server.delivery.delays(normal).astype(np.float64)
            ends = np.percentile(draws, (10, 90))
        low, high = (float(round(end)) for end in (min(ends[0], lead), max(ends[1], lead)))

        def hold(value: float) -> Simulation:
            late = DeliveryRisk(value - lead, 1.0)
            outcomes = replace(self.few.outcomes, delivery=np.zeros(len(self.few.outcomes.slip)))
            return self._hold_servers(outcomes, delivery=late)

        if low < high:
            yield _Held(
                "on_prem.lead_time_months", "Delivery", "months", float(lead), low, high,
                "dated quotes" if draws is None else BY_OUTCOMES, hold, "from order to service",
                sorted({low, float(lead), high}), (), draws,
            )  # fmt: skip

    def _resale(self, source: CapacitySource) -> _Held:
        prices, is_rent = self.drawn.outcomes.prices, self.drawn.drivers.is_rent
        draws = prices[self.drawn.drivers.of_source[source.key], :, -1]
        low, high, based_on = _range_of(draws, 1.0)

        def hold(value: float) -> Simulation:
            changed = self.few.outcomes.prices.copy()
            changed[~is_rent, :, -1] = value
            return self._with(prices=changed)

        return _Held(
            "on_prem.residual_rate", "Resale", "factor", 1.0, low, high, based_on, hold,
            "of the expected resale", (low, high), (0.0,), draws,
        )  # fmt: skip

    def _assumption(self, row: Assumption) -> Iterator[_Held]:
        value, published = self.inputs.assumptions[row.name], all_defaults()[row.name]
        scale = value / published.value if published.value else 1.0
        low, high, source = published.low * scale, published.high * scale, published.source
        if row.given:
            low, high = value * (1 - DEFAULT_CHANGE), value * (1 + DEFAULT_CHANGE)
            source = "20% around the figure given"

        def hold(at: float) -> Simulation:
            return self.few.with_inputs(self.inputs.with_assumption(row.name, at))

        if low < high:
            label = row.name.partition("_per_")[0].replace("_", " ").capitalize()
            words = ASSUMPTIONS[row.name]
            costed = (value, high) if value < high else (low, value)
            yield _Held(
                row.field,
                label,
                row.unit,
                value,
                low,
                high,
                source,
                hold,
                words,
                costed,
                is_as_drawn=True,
            )

    def _length(self) -> Iterator[_Held]:
        months = self.results.calendar.months
        if months < 4 or not self.inputs.hours[-1]:
            return

        def hold(value: float) -> Simulation:
            growth = self.few.outcomes.growth.copy()
            growth[:, int(value) :] = 0.0
            return self._with(growth=growth)

        yield _Held(
            "horizon_months", "Length of the need", "months", float(months),
            float(months // 2), float(months), "half of the months to all of them", hold,
            "of need", (float(months // 2), float(months * 3 // 4), float(months)),
            is_as_drawn=True,
        )  # fmt: skip

    def _project_end(self, chance: float) -> _Held:
        n, months = len(self.drawn.outcomes.slip), self.results.calendar.months
        rows = np.arange(0, n, max(1, n // FEW_OUTCOMES))

        def hold(value: float) -> Simulation:
            drawn = draw_ends(replace(self.drawn.parameters, end_probability=value), months)
            return self._with(ends=None if drawn is None else drawn[rows])

        low, high = chance * (1 - DEFAULT_CHANGE), min(1.0, chance * (1 + DEFAULT_CHANGE))
        most = min(1.0, FURTHEST * chance)
        costed = sorted({0.0, chance / FURTHEST, chance, high, most})
        each = "" if self.drawn.parameters.end_after_months else " in a quarter"
        return _Held(
            "risk.end_probability", "Chance that the project ends", "fraction", chance, low, high,
            "20% around the figure given", hold, f"chance that the project ends{each}", costed,
            is_as_drawn=True,
        )  # fmt: skip


def _find_turn(held: _Held, advise: Callable[[float], int]) -> tuple[float, bool, int] | None:
    """The value nearest to today's at which the advice turns, whether another plan is advised
    below it, and which; None too where another is advised at today's value in all outcomes."""
    if advise(held.value):
        return None
    scanned = [(value, advise(value)) for value in held.scanned]
    pairs = [(one, other) for one, other in pairwise(scanned) if (one[1] == 0) != (other[1] == 0)]
    if not pairs:
        return None
    near, far = min(
        pairs, key=lambda pair: abs(pair[0][0] - held.value) + abs(pair[1][0] - held.value)
    )
    is_below = near[1] != 0
    advised, other = (far, near) if is_below else (near, far)
    for _ in range(HALVINGS):
        middle = (advised[0] + other[0]) / 2
        step = (middle, advise(middle))
        advised, other = (advised, step) if step[1] else (step, other)
    return other[0], is_below, other[1]


def _range_of(draws: Floats, value: float) -> tuple[float, float, str]:
    low, high = np.percentile(draws, (10, 90)).tolist()
    if high - low > 1e-6 * value:
        return low, high, BY_OUTCOMES
    return value * (1 - DEFAULT_CHANGE), value * (1 + DEFAULT_CHANGE), "20% around the figure"


def _reach(value: float) -> tuple[float, float, float]:
    return value / FURTHEST, value, value * FURTHEST


def name_change(parts: list[str], advised: list[str]) -> str:
    """What a plan of these parts would have somebody do, against the advised parts.

    >>> name_change(["buy 4 servers"], ["buy 4 servers", "reserve by date"])
    'buy 4 servers without reserving by date'
    >>> name_change(["sign 1 commitment"], ["buy 4 servers"])
    'sign 1 commitment'
    """
    words = " and ".join(parts) or "rent"
    left_out = [part.partition(" ") for part in advised if part not in parts]
    if not parts or not left_out or not set(parts) < set(advised):
        return words
    return f"{words} without {' or '.join(_DOING[verb] + rest for verb, _, rest in left_out)}"


def _name_parts(candidate: Candidate) -> list[str]:
    units: dict[str, int] = {}
    for source in candidate.used:
        part = part_of(source)
        if part is not None:
            units[part[0]] = units.get(part[0], 0) + _count_units(source, candidate)
    return [_name_part(kind, count) for kind, count in sorted(units.items())]


def _count_units(source: CapacitySource, candidate: Candidate) -> int:
    """Servers bought, or contracts held at once: one that is renewed is no second one."""
    started = candidate.plan.units_started.get(source.key)
    if started is None or source.term is None:
        return 0
    if source.is_owned:
        return int(started.sum())
    return int(source.units_in_service(started.astype(np.float64)).max())


def _name_part(kind: str, count: int) -> str:
    """`buy 8 servers`, `reserve by date`."""
    if kind == "block":
        return "reserve by date"
    verb, noun = {
        "servers": ("buy", "server"),
        "leased": ("lease", "server"),
        "contract": ("sign", "commitment"),
    }[kind]
    return f"{verb} {pluralize(count, noun)}"


def _show(value: float, unit: str) -> str:
    """A value as a sentence has it, told apart from that of today.

    >>> _show(0.62, "factor"), _show(1.004, "factor"), _show(0.0793, "fraction per year")
    ('62%', '100.4%', '7.9% a year')
    """
    if unit in ("factor", "fraction", "fraction per year"):
        if unit.endswith("per year"):
            return f"{value:.1%} a year"
        shown = f"{value:.0%}"
        return f"{value:.1%}" if shown == "100%" else shown
    digits = 2 if abs(value) < 1_000 else 0
    if unit == "months":
        return pluralize(round(value), "month")
    return f"{value:,.{digits}f} {unit.replace(' per full-time equivalent per year', ' a year')}"


def _digits(value: float) -> float:
    return float(f"{value:.4g}")

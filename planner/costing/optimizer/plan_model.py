"""The plan as one model: what is started, in service, rented and run in every month. PURE.

A month's work is measured in *width*, the reference accelerators at work at its peak: with
hours h and d = h / peak hours at peak (730 where hours are asked for at no peak), P = h / d. The
columns are x(i, m) units of a source started in a month, s(k, t) units of a kind in service that
were started, z(j, t) width rented, n(c, t) whole nodes of a size that is rented whole, and v(r, t)
width run on units that cost something to run. With e(k, t) units there already and φ the width
that a unit can keep busy, capacity · hours_per_month / d, the rows are

- service: s(k, t) = s(k, t−1) + Σ x usable from t on − Σ x that end in t
- width: Σ capacity · (s + e) + Σ z ≥ P, of nodes that rent whole capacity · n in the place of z
- nodes: Σ z of one size − capacity · n = 0
- hours: Σ φ · (s + e) of units that run for nothing + Σ v + Σ z ≥ P
- run: v ≤ Σ φ · (s + e) of the units of one running cost
- spot: Σ z of spot ≤ share · P
- quota: Σ size · (s + e) + Σ size · z ≤ most, of a share most · P; of a quota of machines size · n
- least groups: Σ capacity · (s + e) + Σ z − share · P · chosen ≥ 0 of each, Σ chosen ≥ count
- budgets: Σ capital ≤ each budget of capital, Σ cash of a month ≤ the monthly, Σ payments ≤ total
- credits and minimum spends: Σ paid from pools ≤ bills of their provider in a month, Σ ≤ amount
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from planner.costing.optimizer.model import ABSENT, Floats, Ints, Model
from planner.costing.optimizer.problem import (
    HALF_CENT,
    LARGEST_SHARE,
    LEAST_GROUPS,
    CommitmentOption,
    Plan,
    PlanProblem,
    Quota,
    RentalOption,
)

HOURS_PER_MONTH = 730.0
_NOISE = 1e-9
_TIE = 1e-7
"""Share of what a term costs by which one that ends a horizon after the plan is dearer: of plans
that cost the same, one that owes nothing afterwards is taken. Bounds are as much higher."""
Bools = NDArray[np.bool_]


def hours_at_peak(problem: PlanProblem) -> Floats:
    """[T] hours at peak of a month, 730 in a month without a peak.

    >>> hours_at_peak(PlanProblem(np.array([800.0, 0.0]), np.array([16.0, 0.0]), (), ())).tolist()
    [50.0, 730.0]
    """
    has_both = (problem.hours > 0) & (problem.peak > 0)
    return np.where(has_both, problem.hours / np.where(has_both, problem.peak, 1), HOURS_PER_MONTH)


@dataclass(frozen=True)
class Spending:
    """Credits and minimum spends, P pools of money, and what each source's provider bills in L
    months, those after the horizon too: for use, and in advance."""

    providers: tuple[str, ...]
    """[P] provider of each pool."""
    worth: Floats
    """[P, L, 2] net present value of a bill of 1 that a pool pays or counts."""
    amounts: Floats
    """[P]"""
    is_credit: Bools
    """[P] credits; the others are minimum spends."""
    provider_of: Mapping[str, str]
    """Key of a source → its provider."""
    hour: Mapping[str, Floats]
    """Key → [L, 2] billed for a node-hour."""
    unit: Mapping[str, Floats]
    """Key → [T, L, 2] billed for a unit started in month m."""
    fixed: Mapping[str, Floats]
    """Provider → [L, 2] billed whatever the plan."""
    in_total: float
    """Share of what pools pay that counts in a total budget, 0 where that is before credits."""

    @property
    def owed(self) -> float:
        """Net present cost of all minimum spends if no bill counted."""
        return float(self.worth.max(axis=(1, 2)) @ np.where(self.is_credit, 0.0, self.amounts))


@dataclass(frozen=True)
class Limit:
    """A limit as rows, of which `per_slack` of each is one step of what the request gives."""

    name: str
    value: float
    rows: Ints
    per_slack: Floats
    sign: float = 1.0
    """−1 of a least number."""


@dataclass
class Kind:
    """Units that are the same once they are in service: one column of them a month."""

    units: list[CommitmentOption]
    existing: Floats
    """[T]"""
    service: Ints
    """[T]"""
    starts: list[tuple[Ints, Ints, list[CommitmentOption]]] = field(default_factory=list)
    """Months, columns, and the unit that is started in each."""

    @property
    def unit(self) -> CommitmentOption:
        return self.units[0]


@dataclass(frozen=True)
class RentalColumns:
    """The width rented of the cheapest offers of one type, in some months."""

    months: Ints
    columns: Ints
    offers: list[RentalOption]


class Limits:
    """The rows that hold for all sources together: quotas and budgets."""

    def __init__(
        self, model: Model, problem: PlanProblem, width: Floats, spending: Spending | None = None
    ) -> None:
        self.model, self.problem, self.spending = model, problem, spending
        self.months = problem.hours.size
        self.limits: list[Limit] = []
        has_peak = (problem.hours > 0) & (problem.peak > 0)
        counted = {group for offer in problem.rental_options for group in offer.limit_groups}
        counted |= {group for unit in problem.units for group in unit.limit_groups}
        self.quotas: list[tuple[Quota, Ints]] = []
        shares = []
        for quota in problem.quotas:
            if quota.group not in counted:
                continue
            if not quota.is_share:
                rows = model.rows(self.months, -np.inf, quota.most - self._existing(quota))
                name = f"quota {quota.group}"
                self.limits.append(Limit(name, quota.most, rows, np.ones(rows.size)))
            else:
                most = np.where(has_peak, quota.most * np.maximum(width, _NOISE), np.inf)
                limited = np.isfinite(most)
                rows = model.rows_in(limited, -np.inf, most - self._existing(quota))
                if quota.most < 1.0:
                    shares.append((quota.most, rows[limited], width[limited]))
            self.quotas.append((quota, rows))
        if shares:
            rows, widths = (np.concatenate([one[i] for one in shares]) for i in (1, 2))
            self.limits.append(Limit(LARGEST_SHARE, shares[0][0], rows, widths))
        self.capital = [
            (budget, int(self._budget(budget.name, budget.amount, budget.amount)[0]))
            for budget in problem.capital_budgets
        ]
        self.monthly, self.total = np.full(self.months, ABSENT), ABSENT
        if problem.monthly_budget is not None:
            base = 0.0 if problem.base_cash is None else problem.base_cash
            left = problem.monthly_budget - (np.zeros(self.months) + base)
            self.monthly = self._budget("monthly_budget", problem.monthly_budget, left)
        if problem.total_budget is not None:
            paid = problem.base_payments
            if spending is not None:
                paid += spending.in_total * float(spending.amounts[~spending.is_credit].sum())
            left_in_all = problem.total_budget - paid
            self.total = int(self._budget("total_budget", problem.total_budget, left_in_all)[0])
        self.bills: dict[str, Ints] = {}
        """Provider → [L, 2] row of each of its bills, ABSENT where no pool pays it."""
        if spending is not None:
            self._write_pools(spending)

    def _existing(self, quota: Quota) -> Floats:
        there = np.zeros(self.months)
        for unit in self.problem.units:
            if unit.existing is not None:
                there += unit.size_in(quota.group) * unit.existing
        return there

    def _budget(self, name: str, value: float, left: Floats | float) -> Ints:
        rows = self.model.rows(np.size(left), -np.inf, left)
        self.limits.append(Limit(name, value, rows, np.ones(rows.size)))
        return rows

    def _write_pools(self, spending: Spending) -> None:
        model = self.model
        for pool, provider in enumerate(spending.providers):
            is_paid, billed = spending.worth[pool] > 0, spending.fixed[provider]
            bills = self.bills.setdefault(provider, np.full(is_paid.shape, ABSENT))
            new = is_paid & (bills == ABSENT)
            bills[new] = model.rows(int(new.sum()), -np.inf, billed[new])
            paid = model.columns(-spending.worth[pool][is_paid], spending.amounts[pool])
            model.put(model.rows(1, -np.inf, spending.amounts[pool]), paid, 1.0)
            model.put(bills[is_paid], paid, 1.0)
            model.put(np.array(self.total), paid, -spending.in_total)

    def charge_hours(
        self,
        options: Sequence[RentalOption | CommitmentOption],
        months: Ints,
        columns: Ints,
        hours: Floats,
    ) -> None:
        """What columns take of the budgets, each so many node-hours of an option in a month."""
        if self.problem.limits_cash:
            at = zip(options, months.tolist(), strict=True)
            cash = np.array([option.hour_cash[month] for option, month in at]) * hours
            self.model.put(self.monthly[months], columns, cash)
            self.model.put(np.array(self.total), columns, cash)
        if self.spending is None:
            return
        rows, billed = np.full((2, months.size), ABSENT), np.zeros((2, months.size))
        for i, (option, month) in enumerate(zip(options, months.tolist(), strict=True)):
            if option.key in self.spending.hour:
                rows[:, i] = self.bills[self.spending.provider_of[option.key]][month]
                billed[:, i] = self.spending.hour[option.key][month]
        for column in (0, 1):
            self.model.put(rows[column], columns, -billed[column] * hours)

    def charge_starts(self, units: Sequence[CommitmentOption], months: Ints, columns: Ints) -> None:
        """What starts take of the budgets, a unit, month and column each."""
        for budget, row in self.capital:
            capital = [
                unit.capex[month] if budget.first <= month < budget.last else 0.0
                for unit, month in zip(units, months.tolist(), strict=True)
            ]
            self.model.put(np.array(row), columns, np.array(capital))
        starts = list(zip(units, months.tolist(), strict=True))
        if not starts:
            return
        if self.problem.monthly_budget is not None:
            cash = np.concatenate([unit.cash_by_month[month] for unit, month in starts])
            rows = np.tile(self.monthly, len(starts))
            self.model.put(rows, np.repeat(columns, self.months), cash)
        if self.total != ABSENT:
            payments = np.array([unit.all_payments[month] for unit, month in starts])
            self.model.put(np.array(self.total), columns, payments)
        if self.spending is None:
            return
        billed = self.spending.unit
        at = [i for i, (unit, _) in enumerate(starts) if unit.key in billed]
        if at:
            bills = np.array([billed[starts[i][0].key][starts[i][1]] for i in at])
            rows = np.array([self.bills[self.spending.provider_of[starts[i][0].key]] for i in at])
            each = np.repeat(columns[at], rows[0].size)
            self.model.put(rows.ravel(), each, -bills.ravel())

    def affordable(self, unit: CommitmentOption, months: Ints) -> Floats:
        """Units of a start that the budgets of capital pay for."""
        most = np.full(months.size, np.inf)
        for budget, _ in self.capital:
            capex = np.where(
                (months >= budget.first) & (months < budget.last), unit.capex[months], 0.0
            )
            paid_for = np.floor((budget.amount + HALF_CENT) / np.where(capex > 0, capex, 1.0))
            most = np.where(capex > 0, np.minimum(most, paid_for), most)
        return most


class PlanModel:
    """Rows and columns of a problem whose sources are in the order of their keys."""

    def __init__(
        self, problem: PlanProblem, spending: Spending | None = None, *, is_elastic: bool = False
    ) -> None:
        self.problem, self.spending, self.is_elastic = problem, spending, is_elastic
        self.months, self.model = problem.hours.size, Model()
        self.busy = problem.hours > 0
        self.has_peak = self.busy & (problem.peak > 0)
        self.hours_at_peak = hours_at_peak(problem)
        self.width = problem.hours / self.hours_at_peak
        self.limits = Limits(self.model, problem, self.width, spending)
        self.kinds = [self._begin_kind(units) for units in self._alike()]
        self.running = self._group_running()
        self._write_demand()
        for kind in self.kinds:
            self._write_starts(kind)
        self.rentals = list(self._write_rentals())
        self._write_nodes()
        self._write_groups()

    @property
    def base_cost(self) -> float:
        """What no choice changes, with all minimum spends as if no bill counted."""
        return self.problem.base_cost + (0.0 if self.spending is None else self.spending.owed)

    def _alike(self) -> list[list[CommitmentOption]]:
        groups: dict[tuple[object, ...], list[CommitmentOption]] = {}
        for unit in self.problem.units:
            sizes = tuple(unit.size_in(quota.group) for quota in self.problem.quotas)
            key = (unit.hours_per_month, sizes, self._service(unit))
            groups.setdefault(key, []).append(unit)
        return list(groups.values())

    def _service(self, unit: CommitmentOption) -> tuple[object, ...]:
        return (unit.capacity, self._running_cost(unit))

    def _running_cost(self, unit: CommitmentOption) -> tuple[object, ...]:
        cash = unit.hour_cash if self.problem.limits_cash or self.spending else np.zeros(0)
        if not unit.hour_cost.any() and not cash.any():
            return ()
        provider = self.spending.provider_of.get(unit.key) if self.spending else None
        return (
            (unit.hour_cost / unit.capacity).tobytes(),
            (cash / unit.capacity).tobytes(),
            provider,
        )

    def _group_running(self) -> list[list[Kind]]:
        groups: dict[tuple[object, ...], list[Kind]] = {(): []}
        for kind in self.kinds:
            groups.setdefault(self._running_cost(kind.unit), []).append(kind)
        return list(groups.values())

    def _begin_kind(self, units: list[CommitmentOption]) -> Kind:
        existing = np.zeros(self.months)
        for unit in units:
            existing += 0 if unit.existing is None else unit.existing
        return Kind(units, existing, np.full(self.months, ABSENT))

    def _busy_width(self, kind: Kind) -> Floats:
        return kind.unit.capacity * kind.unit.hours_per_month / self.hours_at_peak

    def _write_demand(self) -> None:
        model, free = self.model, self.running[0]
        there = sum((k.unit.capacity * k.existing for k in self.kinds), np.zeros(self.months))
        self.width_row = model.rows_in(self.has_peak, self.width - there, np.inf)
        short = [self._busy_width(kind) < kind.unit.capacity for kind in self.kinds]
        needed = self.busy & (np.any(short, axis=0) | (len(self.running) > 1) | ~self.has_peak)
        run = sum((self._busy_width(k) * k.existing for k in free), np.zeros(self.months))
        self.hours_row = model.rows_in(needed, self.width - run, np.inf)
        most = self.problem.max_spot_share * self.width
        self.spot_row = model.rows_in(self.busy & (self.problem.max_spot_share < 1), -np.inf, most)
        if self.problem.max_spot_share < 1 and any(s.is_spot for s in self.problem.rental_options):
            rows = self.spot_row[self.busy]
            share, per_share = self.problem.max_spot_share, self.width[self.busy]
            self.limits.limits.append(Limit("max_spot_share", share, rows, per_share))
        busy: Ints = np.flatnonzero(self.busy)
        self.run_rows, self.run_columns = [self.hours_row], [np.zeros(0, np.int64)]
        for kinds in self.running[1:]:
            run = sum((self._busy_width(k) * k.existing for k in kinds), np.zeros(self.months))
            row, unit = model.rows_in(self.busy, -np.inf, run), kinds[0].unit
            per_width = self.hours_at_peak[busy] / unit.capacity
            column = model.columns(unit.hour_cost[busy] * per_width, self.width[busy])
            model.put(row[busy], column, 1.0)
            model.put(self.hours_row[busy], column, 1.0)
            self.limits.charge_hours([unit] * busy.size, busy, column, per_width)
            self.run_rows.append(row)
            self.run_columns.append(column)

    def _write_starts(self, kind: Kind) -> None:
        written: list[tuple[Ints, Ints, Ints, Floats]] = []
        in_service = np.zeros(self.months + 1)
        for units in self._compete(kind.units):
            costs = np.array([unit.start_cost for unit in units])
            best, unit = costs.argmin(axis=0), units[0]
            most = self._most_useful(unit)
            months: Ints = np.flatnonzero(np.isfinite(costs.min(axis=0)) & (most > 0))
            upper = most[months]
            if not self.is_elastic:
                upper = np.minimum(upper, self.limits.affordable(unit, months))
            least = costs.min(axis=0)[months]
            until = (months + unit.lead_months + unit.duration_months) / self.months
            later = 0.0 if unit.is_owned else _TIE * np.maximum(until - 1, 0) * np.abs(least)
            columns = self.model.columns(least + later, upper, is_whole=True, is_choice=True)
            chosen = [units[i] for i in best[months].tolist()]
            kind.starts.append((months, columns, chosen))
            self.limits.charge_starts(chosen, months, columns)
            if unit.max_units is not None:
                row = self.model.rows(1, unit.min_units or -np.inf, unit.max_units)
                self.model.put(row, columns, 1.0)
                name = f"max_units {unit.key}"
                self.limits.limits.append(Limit(name, unit.max_units, row, np.ones(1)))
            first = months + unit.lead_months
            last = np.minimum(first + unit.duration_months, self.months)
            np.add.at(in_service, first, upper)
            np.subtract.at(in_service, last, upper)
            written.append((first, last, columns, upper))
        if not any(columns.size for _, _, columns, _ in written):
            return
        most_in_service = in_service.cumsum()[:-1]
        kind.service = self.model.columns(np.zeros(self.months), most_in_service, is_whole=True)
        row = self.model.rows(self.months, 0.0, 0.0)
        self.model.put(row, kind.service, 1.0)
        self.model.put(row[1:], kind.service[:-1], -1.0)
        for first, last, columns, _ in written:
            ends = last < self.months
            self.model.put(row[first], columns, -1.0)
            self.model.put(row[last[ends]], columns[ends], 1.0)
        self._put_service(kind)

    def _put_service(self, kind: Kind) -> None:
        put, unit = self.model.put, kind.unit
        put(self.width_row, kind.service, unit.capacity)
        run = next(r for r, kinds in enumerate(self.running) if kind in kinds)
        put(self.run_rows[run], kind.service, self._busy_width(kind) * (-1.0 if run else 1.0))
        for quota, rows in self.limits.quotas:
            put(rows, kind.service, unit.size_in(quota.group))

    def _compete(self, units: Sequence[CommitmentOption]) -> list[list[CommitmentOption]]:
        groups: dict[tuple[object, ...], list[CommitmentOption]] = {}
        for unit in units:
            is_alone = bool((unit.start_cost < 0).any()) or unit.max_units is not None
            is_alone = is_alone or self.problem.limits_cash or self.spending is not None
            capex = unit.capex.tobytes() if self.limits.capital else b""
            duration = min(unit.duration_months, self.months)
            key = (unit.lead_months, duration, capex, unit.key if is_alone else "")
            groups.setdefault(key, []).append(unit)
        return list(groups.values())

    def _most_useful(self, unit: CommitmentOption) -> Floats:
        months, lead = self.months, min(unit.lead_months, self.months)
        needed = self._needed(unit)
        duration = min(unit.duration_months, months)
        if duration < 1:
            return np.zeros(months)
        later = np.pad(needed, (0, lead + duration))[lead:]
        return np.asarray(sliding_window_view(later, duration).max(axis=1)[:months], np.float64)

    def _needed(self, unit: CommitmentOption) -> Floats:
        """[T] units of use at most; a model of several projects counts those of all."""
        return units_needed(self.problem, unit)

    def _write_rentals(self) -> Iterator[RentalColumns]:
        problem, model = self.problem, self.model
        types: dict[tuple[object, ...], list[RentalOption]] = {}
        for offer in problem.rental_options:
            sizes = tuple(offer.size_in(q.group) / offer.capacity for q in problem.quotas)
            is_limited = offer.is_spot and problem.max_spot_share < 1
            key = (is_limited, sizes, self._node(offer), self._apart(offer))
            types.setdefault(key, []).append(offer)
        for offers in types.values():
            for rows in self._cheapest(offers):
                months: Ints = np.array([t for t, offer in enumerate(rows) if offer], np.int64)
                chosen = [offer for offer in rows if offer]
                if not chosen:
                    continue
                node = self._node(chosen[0])
                hours = self.hours_at_peak[months] / self._at_work(chosen, months)
                most = self.width[months]
                if node:
                    most = np.ceil(most / node - _NOISE) * node
                cost = np.array(
                    [o.hour_cost[t] for o, t in zip(chosen, months.tolist(), strict=True)]
                )
                columns = model.columns(cost * hours, most)
                model.put(self.hours_row[months], columns, 1.0)
                if chosen[0].is_spot:
                    model.put(self.spot_row[months], columns, 1.0)
                self.limits.charge_hours(chosen, months, columns, hours)
                yield RentalColumns(months, columns, chosen)

    def _apart(self, offer: RentalOption) -> str:
        return offer.key if self.spending and offer.key in self.spending.hour else ""

    def _at_work(self, offers: Sequence[RentalOption], months: Ints) -> Floats:
        return np.array([offer.capacity for offer in offers])

    def _node(self, offer: RentalOption) -> float:
        return offer.capacity if self.problem.whole_nodes and not offer.in_parts else 0.0

    def _cheapest(self, offers: Sequence[RentalOption]) -> Iterator[list[RentalOption | None]]:
        shape = (len(offers), self.months)
        there = np.array(
            [np.ones(self.months, bool) if o.available is None else o.available for o in offers]
        )
        capacity = np.array([offer.capacity for offer in offers])[:, None]
        cost = np.array([offer.hour_cost for offer in offers]).reshape(shape) / capacity
        cash = np.array([offer.hour_cash for offer in offers]).reshape(shape) / capacity
        is_there = there & self.busy & np.isfinite(cost)
        cost, cash = np.where(is_there, cost, np.inf), np.where(is_there, cash, np.inf)
        order = np.lexsort((cash, cost), axis=0)
        ranked = np.take_along_axis(cash, order, axis=0)
        less = np.isfinite(np.take_along_axis(cost, order, axis=0))
        if not self.problem.limits_cash:
            less[1:] = False
        else:
            less[1:] &= ranked[1:] < np.minimum.accumulate(ranked, axis=0)[:-1]
        for rank in np.flatnonzero(less.any(axis=1)).tolist():
            picks = zip(order[rank].tolist(), less[rank].tolist(), strict=True)
            yield [offers[i] if is_less else None for i, is_less in picks]

    def _write_nodes(self) -> None:
        model, links = self.model, dict[tuple[object, ...], Ints]()
        for rented in self.rentals:
            offer, months, columns = rented.offers[0], rented.months, rented.columns
            node = self._node(offer)
            link = np.full(months.size, ABSENT)
            if node:
                machines = tuple(
                    round(offer.size_in(q.group) / offer.capacity * node, 9)
                    for q, _ in self.limits.quotas
                    if q.in_machines
                )
                key = (node, machines, self._apart(offer) if self.spending is None else "")
                if key not in links:
                    links[key] = self._link_nodes(offer, node)
                link = links[key][months]
                model.put(link, columns, 1.0)
            is_part = link == ABSENT
            model.put(np.where(is_part, self.width_row[months], ABSENT), columns, 1.0)
            for quota, rows in self.limits.quotas:
                counts = is_part | (not quota.in_machines)
                at = np.where(counts & (self.problem.peak[months] > 0), rows[months], ABSENT)
                model.put(at, columns, offer.size_in(quota.group) / offer.capacity)

    def _link_nodes(self, offer: RentalOption, node: float) -> Ints:
        months: Ints = np.flatnonzero(self.has_peak)
        most = np.ceil(self.problem.peak[months] / node - _NOISE)
        nodes = self.model.columns(np.zeros(months.size), most, is_whole=True)
        link = self.model.rows_in(self.has_peak, 0.0, 0.0)
        self.model.put(link[months], nodes, -node)
        self.model.put(self.width_row[months], nodes, node)
        for quota, rows in self.limits.quotas:
            if quota.in_machines:
                self.model.put(rows[months], nodes, offer.size_in(quota.group))
        return link

    def _write_groups(self) -> None:
        least = self.problem.least_groups
        if least is None:
            return
        chosen = self.model.columns(np.zeros(len(least.groups)), 1.0, is_whole=True)
        row = self.model.rows(1, least.count, np.inf)
        self.model.put(row, chosen, 1.0)
        self.limits.limits.append(Limit(LEAST_GROUPS, least.count, row, -np.ones(1), -1.0))
        counted = {quota.group for quota, _ in self.limits.quotas}
        for name, column in zip(least.groups, chosen, strict=True):
            there = [kind.unit.size_in(name) * kind.existing for kind in self.kinds]
            rows = self.model.rows_in(self.has_peak, -np.sum(there, axis=0), np.inf)
            self.model.put(rows, np.array(column), -least.share * self.width)
            if name not in counted:
                continue
            for kind in self.kinds:
                if kind.service[0] != ABSENT:
                    self.model.put(rows, kind.service, kind.unit.size_in(name))
            for rented in self.rentals:
                size = rented.offers[0].size_in(name) / rented.offers[0].capacity
                self.model.put(rows[rented.months], rented.columns, size)

    def plan(self, values: Floats, bound: float) -> Plan:
        """The plan behind the values of the columns."""
        problem, months = self.problem, self.months
        started, (width, rented) = self.units_started(values), self.rented(values)
        used = {unit.key: np.zeros(months) for unit in problem.units}
        paid = [np.zeros(months) for _ in self.running]
        for r, columns in enumerate(self.run_columns[1:], start=1):
            paid[r][self.busy] = np.maximum(values[columns], 0.0)
        paid[0] = np.maximum(self.width - width - sum(paid), 0.0)
        for kinds, left in zip(self.running, paid, strict=True):
            for unit in (unit for kind in kinds for unit in kind.units):
                per_unit = unit.capacity * unit.hours_per_month / self.hours_at_peak
                taken = np.minimum(left, per_unit * units_in_service(unit, started[unit.key]))
                left = left - taken
                used[unit.key] = taken * self.hours_at_peak / unit.capacity
        cost = plan_cost(problem, started, {**used, **rented})
        bound += self.base_cost
        if self.spending is None and cost - bound <= _NOISE * abs(cost):
            bound = cost
        return Plan(True, cost, bound, started, used, rented)

    def units_started(self, values: Floats) -> dict[str, NDArray[np.int64]]:
        """key → [T]"""
        started = {unit.key: np.zeros(self.months, np.int64) for unit in self.problem.units}
        for kind in self.kinds:
            for months, columns, units in kind.starts:
                counts = np.round(values[columns]).astype(np.int64)
                for i in np.flatnonzero(counts).tolist():
                    started[units[i].key][months[i]] += counts[i]
        return started

    def rented(self, values: Floats) -> tuple[Floats, dict[str, Floats]]:
        """[T] width rented, and key → [T] node-hours."""
        width = np.zeros(self.months)
        rented = {offer.key: np.zeros(self.months) for offer in self.problem.rental_options}
        for one in self.rentals:
            z = np.where(values[one.columns] > _SPARE, values[one.columns], 0.0)
            np.add.at(width, one.months, z)
            hours = z * self.hours_at_peak[one.months] / self._at_work(one.offers, one.months)
            for i in np.flatnonzero(z).tolist():
                rented[one.offers[i].key][one.months[i]] += hours[i]
        return width, rented


_SPARE = 1e-9
"""Width below which nothing is rented."""


def plan_cost(
    problem: PlanProblem, started: Mapping[str, NDArray[np.int64]], hours: Mapping[str, Floats]
) -> float:
    """Σ coefficient × what is started, used and rented, `base_cost` included."""
    cost = problem.base_cost
    for unit in problem.units:
        at = np.flatnonzero(started[unit.key])
        cost += float(unit.start_cost[at] @ started[unit.key][at])
        cost += float(unit.hour_cost @ hours[unit.key])
    return cost + sum(float(one.hour_cost @ hours[one.key]) for one in problem.rental_options)


def units_needed(problem: PlanProblem, unit: CommitmentOption) -> Floats:
    """[T] units of a source that cover a month by themselves."""
    by_hours = problem.hours / (unit.capacity * max(unit.hours_per_month, 1e-9))
    return np.ceil(np.maximum(problem.peak / unit.capacity, by_hours) - _NOISE)


def units_in_service(unit: CommitmentOption, started: NDArray[np.int64]) -> NDArray[np.int64]:
    """[T] units of a source usable in each month, of those started and those there already."""
    months = started.size
    change = np.zeros(months + 1, np.int64)
    at = np.flatnonzero(started)
    first = np.minimum(at + unit.lead_months, months)
    last = np.minimum(first + unit.duration_months, months)
    np.add.at(change, first, started[at])
    np.subtract.at(change, last, started[at])
    in_service = change.cumsum()[:-1]
    return in_service if unit.existing is None else in_service + unit.existing

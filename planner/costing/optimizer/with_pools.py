"""The plan whose bills use up credits and minimum spends, as one model of whole units. PURE.

With bills s of a provider in the months of a pool of amount A, each worth w, columns c of what the
pool pays are added to the model of the plan,

    min cost(x) + Σ w·A of minimum spends − Σ w·c,   Σ over its pools of c ≤ s,   Σ c ≤ A

and a total budget counts payments after credits and with what is owed of minimum spends. Pools are
settled in the order of their ends; the model may share a bill out as it likes, so its bound is
true and the plan it finds is settled again by whoever asks. No offer is left out beforehand, so
that only small markets are solved in this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.dispatch import rented_hours, used_hours
from planner.costing.optimizer.constraints import ABSENT, Rows, build_rows
from planner.costing.optimizer.exact_milp import solve_milp
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.presolve import keep_all
from planner.costing.optimizer.problem import (
    CommitmentOption,
    Floats,
    Plan,
    PlanProblem,
    RentalOption,
)
from planner.costing.optimizer.reduced_problem import NO_SOURCE, Ints, ReducedProblem
from planner.costing.optimizer.variables import (
    Continuous,
    Entries,
    StartColumns,
    continuous_columns,
)
from planner.costing.optimizer.work import WorkMeter

MOST_CELLS = 150_000
"""Starts times rows above which a market is too large for one model; a choice of ours, 2026."""
_NODES = 400
"""Nodes of the search tree."""
_HOUR_NODES = 2_000
"""The same for the rented nodes of a plan whose units are settled."""
_SCALE = 1e3
_HOUR_GAP = 1e-4
_WHOLE, _ROUNDING = 1e-6, 1e-9


@dataclass(frozen=True)
class Spending:
    """Pools of money and what each source's provider bills, in P pools and L months."""

    providers: tuple[str, ...]
    """[P] provider of each pool."""
    worth: Floats
    """[P, L] net present value of a bill of 1 that a pool pays or counts."""
    amounts: Floats
    """[P]"""
    is_credit: NDArray[np.bool_]
    """[P] credits; the others are minimum spends."""
    provider_of: Mapping[str, str]
    """Key of a source → its provider."""
    hour: Mapping[str, Floats]
    """Key → [L] billed for a node-hour."""
    unit: Mapping[str, Floats]
    """Key → [T, L] billed for a unit started in month m."""
    fixed: Mapping[str, Floats]
    """Provider → [L] billed whatever the plan."""
    in_total: float
    """Share of what pools pay that counts in a total budget, 0 where that is before credits."""


def solve_with_pools(
    problem: PlanProblem, spending: Spending, *, gap: float, work: WorkMeter
) -> Plan | None:
    """The cheapest plan with the pools counted and a bound on all; None where the market is too
    large or has hours that are worth more than they cost. `cost` is without what pools pay."""
    if _is_odd(problem, spending):
        return None
    reduced = keep_all(problem)
    rows = build_rows(reduced, work)
    starts = reduced.start_candidates.cost.size
    if (starts + rows.required_width.size) * rows.count > MOST_CELLS:
        return None
    model = _Model(reduced, rows, spending)
    indices = np.arange(starts)
    proof = solve_milp(
        model.rows, model.columns, model.starts, indices, gap=gap, node_limit=_NODES, work=work
    )
    bound = proof.bound * rows.cost_scale + problem.base_cost + model.owed
    if proof.incumbent is None:
        return Plan(False, np.inf, bound)
    return model.settle(proof.incumbent.units_started, bound, work)


def _is_odd(problem: PlanProblem, spending: Spending) -> bool:
    """Whether an hour is worth more than it costs, or units that run at one cost are billed at
    several."""
    months, seen = problem.hours.size, dict[bytes, bytes]()
    none = np.zeros(months)
    options: tuple[RentalOption | CommitmentOption, ...] = (
        *problem.rental_options,
        *problem.units,
    )
    for option in options:
        provider = spending.provider_of.get(option.key, "")
        billed = spending.hour[option.key][:months] if option.key in spending.hour else none
        own = [name == provider for name in spending.providers]
        worth = spending.worth[own][:, :months].max(axis=0, initial=0.0)
        if (option.hour_cost - worth * billed < -_ROUNDING).any():
            return True
    for unit in problem.units:
        if unit.hour_cost.any():
            billed = spending.hour.get(unit.key, none)
            provider = spending.provider_of.get(unit.key, "")
            mark = (billed / unit.capacity).tobytes() + provider.encode()
            if seen.setdefault((unit.hour_cost / unit.capacity).tobytes(), mark) != mark:
                return True
    return False


class _Model:
    """Rows and columns of a plan with those of the pools."""

    def __init__(self, reduced: ReducedProblem, rows: Rows, spending: Spending) -> None:
        self.problem, self.spending = reduced.problem, spending
        self.money = rows.cost_scale * _SCALE
        paid = spending.worth > 0
        places = {
            (name, month)
            for name, within in zip(spending.providers, paid, strict=True)
            for month in np.flatnonzero(within).tolist()
        }
        self.bill_rows = {one: rows.count + i for i, one in enumerate(sorted(places))}
        first_pool = rows.count + len(places)
        billed = [spending.fixed[name][month] / self.money for name, month in self.bill_rows]
        upper = np.concatenate([rows.upper, billed, spending.amounts / self.money])
        minimum = np.where(spending.is_credit, 0.0, spending.amounts)
        self.owed = float(spending.worth.max(axis=1) @ minimum)
        if rows.total_row != ABSENT:
            upper[rows.total_row] -= spending.in_total * minimum.sum() / rows.total_scale
        free = np.full(upper.size - rows.count, -np.inf)
        self.rows = replace(rows, lower=np.concatenate([rows.lower, free]), upper=upper)
        self.plain = continuous_columns(rows)
        self.columns = self._with_pools(self.plain, first_pool)
        self.starts = _Starts(self.rows, self)

    def _with_pools(self, plain: Continuous, first_pool: int) -> Continuous:
        spending, rows = self.spending, self.rows
        pool, month = np.nonzero(spending.worth > 0)
        at = plain.count + np.arange(pool.size)
        of_bill = [
            self.bill_rows[spending.providers[p], m]
            for p, m in zip(pool.tolist(), month.tolist(), strict=True)
        ]
        ones = np.ones(pool.size)
        pieces = [
            (plain.entries.row, plain.entries.column, plain.entries.value),
            (np.array(of_bill, np.int64), at, ones),
            (first_pool + pool, at, ones),
            *self._hours_billed(plain),
        ]
        if rows.total_row != ABSENT:
            share = -spending.in_total * self.money / rows.total_scale
            pieces.append((np.full(pool.size, rows.total_row), at, share * ones))
        return replace(
            plain,
            month=np.concatenate([plain.month, np.full(pool.size, ABSENT)]),
            cost=np.concatenate([plain.cost, -spending.worth[pool, month] * _SCALE]),
            upper_bound=np.concatenate([plain.upper_bound, spending.amounts[pool] / self.money]),
            entries=Entries.ordered(pieces, plain.count + pool.size),
        )

    def _hours_billed(self, plain: Continuous) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Entries of what is rented and run in the rows of bills."""
        rentals, rows = self.rows.reduced.rentals, self.rows
        keys = [option.key for option in self.problem.rental_options]
        columns, at, values = [], [], []
        for column, month in enumerate(plain.month.tolist()):
            if column < plain.rentals:
                source = int(rentals.source[plain.rental_type[column], month])
                option, key = self.problem.rental_options[source], keys[source]
                capacity = option.capacity
            else:
                run = plain.run[column - plain.rentals]
                unit = self.problem.units[int(np.flatnonzero(rows.run_of_type == run)[0])]
                key, capacity = unit.key, unit.capacity
            row = self.bill_rows.get((self.spending.provider_of.get(key, ""), month))
            if row is not None and key in self.spending.hour:
                hour = self.spending.hour[key][month] / capacity
                columns.append(column)
                at.append(row)
                values.append(-float(hour) * float(rows.hours_at_peak[month]) / self.money)
        yield np.array(at, np.int64), np.array(columns, np.int64), np.array(values, np.float64)

    def settle(self, started: Floats, bound: float, work: WorkMeter) -> Plan | None:
        """The plan that starts these units, with the hours that are best with them."""
        rows, starts = self.rows, self.starts
        candidates, types = rows.reduced.start_candidates, rows.reduced.unit_types
        program = LinearProgram(rows.lower, rows.upper, work)
        count = self.columns.count
        program.add_columns(
            self.columns.cost, np.zeros(count), np.full(count, np.inf), self.columns.entries
        )
        is_source = candidates.source != NO_SOURCE
        indices = np.arange(started.size)
        fixed = np.where(is_source, started, 0.0)
        most = np.where(is_source, started, candidates.upper_bound)
        program.add_columns(starts.cost, fixed, most, starts.entries(indices))
        if not program.run():
            return None
        values = program.values()
        whole = np.flatnonzero(~is_source)
        parts = values[count + whole]
        if (np.abs(parts - np.round(parts)) > _WHOLE).any():
            program.forget()
            hours = program.solve_milp(count + whole, gap=_HOUR_GAP, node_limit=_HOUR_NODES).values
            if hours is None:
                return None
            values = hours
        units = np.where(is_source, np.round(started), 0.0)
        in_service = np.asarray(starts.units_in_service(units), np.float64)
        served = replace(
            rows, reduced=replace(rows.reduced, unit_types=replace(types, existing=in_service))
        )
        width = np.maximum(values[:count], 0.0)
        used = used_hours(served, self.plain, width[: self.plain.count])
        return Plan(
            True,
            0.0,
            bound,
            units_started=self._units(units),
            used_hours={
                unit.key: hours for unit, hours in zip(self.problem.units, used, strict=True)
            },
            rented_hours=self._no_hours() | rented_hours(served, self.columns, width),
        )

    def _no_hours(self) -> dict[str, Floats]:
        return {one.key: np.zeros(self.problem.hours.size) for one in self.problem.rental_options}

    def _units(self, started: Floats) -> dict[str, NDArray[np.int64]]:
        months = self.problem.hours.size
        units = {unit.key: np.zeros(months, np.int64) for unit in self.problem.units}
        candidates = self.rows.reduced.start_candidates
        for j in np.flatnonzero(started).tolist():
            key = self.problem.units[int(candidates.source[j])].key
            units[key][candidates.month[j]] += int(started[j])
        return units


class _Starts(StartColumns):
    """The starts of units, with what they are billed."""

    def __init__(self, rows: Rows, model: _Model) -> None:
        super().__init__(rows)
        self._model = model

    def entries_outside_service(self, start_indices: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        yield from super().entries_outside_service(start_indices)
        model, source, month = self._model, self.candidates.source, self.candidates.month
        for place, j in enumerate(start_indices.tolist()):
            if source[j] == NO_SOURCE:
                continue
            key = model.problem.units[int(source[j])].key
            if key not in model.spending.unit:
                continue
            provider, bills = model.spending.provider_of[key], model.spending.unit[key][month[j]]
            due = np.flatnonzero(bills).tolist()
            rows = [model.bill_rows.get((provider, one), ABSENT) for one in due]
            at = np.array(rows, np.int64)
            yield at, np.full(at.size, place), -bills[due] / model.money

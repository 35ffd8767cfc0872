"""The capacity plan and the hourly load against HiGHS left alone with the same problem."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import highspy
import numpy as np

from planner.costing.capacity_plan import solve
from planner.costing.plan_columns import StartColumns, continuous_columns
from planner.costing.plan_highs import LinearProgram
from planner.costing.plan_hours import HourSource, dispatch_hours
from planner.costing.plan_problem import PlanProblem
from planner.costing.plan_pruning import prune
from planner.costing.plan_rows import lay_out
from tests.bench.row import SHORT, Row, median_ms
from tests.planner.costing.plain_milp import proven_optimum
from tests.planner.costing.plan_instances import market, medium

SEEDS = range(2) if SHORT else range(5)
OFFERS = 2_000
PROVEN = range(3) if SHORT else range(20)
GAP = 0.01
WORST_EXCESS = 1e-3


def relaxation_ms(problem: PlanProblem) -> float:
    """Pruning and one run of HiGHS on what is left, fractions of units allowed: half an answer."""

    def relax() -> None:
        rows = lay_out(prune(problem))
        columns, starts = continuous_columns(rows), StartColumns(rows)
        nothing = np.zeros(columns.count)
        everything = starts.entries(np.arange(starts.cost.size))
        program = LinearProgram(rows.lower, rows.upper)
        program.add_columns(columns.cost, nothing, nothing + np.inf, columns.entries)
        program.add_columns(starts.cost, 0 * starts.cost, starts.starts.most, everything)
        program.run()

    return median_ms(relax)


def row(name: str, problems: list[PlanProblem], *, gap: float, ms: float) -> Row:
    """Median over the markets; the gap is held in every one of them."""
    ours = statistics.median(median_ms(lambda p=p: solve(p, gap=gap)) for p in problems)
    floor = statistics.median(relaxation_ms(problem) for problem in problems)
    worst = max(solve(problem, gap=gap).gap for problem in problems)
    hold = f"<= {ms:.0f} ms, gap <= {gap:.0%} (worst {worst:.2%})"
    ok = ours <= ms and worst <= gap
    return Row(f"{name}, against its relaxation", ours, floor, hold, ok)


def rented_and_committed(seed: int) -> PlanProblem:
    """One node size, no servers: whole nodes are committed, the rest is rented."""
    problem = market(seed, 60, OFFERS, mixed=False)
    return replace(problem, units=tuple(u for u in problem.units if not u.is_owned))


def proven() -> Row:
    """Problems HiGHS can prove: the same answer, sooner."""
    ours = floor = 0.0
    worst = 0.0
    for problem in map(medium, PROVEN):
        began = time.perf_counter()
        plan = solve(problem)
        between = time.perf_counter()
        optimum = proven_optimum(problem)
        ours += 1e3 * (between - began)
        floor += 1e3 * (time.perf_counter() - between)
        if plan.feasible and optimum is not None:
            worst = max(worst, plan.cost / optimum[0] - 1)
    hold = f"<= 0.1 % above each optimum (worst {worst:.3%}), sooner"
    ok = worst <= WORST_EXCESS and ours <= floor
    return Row(f"{len(PROVEN)} plans, against HiGHS proving them", ours, floor, hold, ok)


def hourly_ms(load: np.ndarray, sources: list[HourSource]) -> tuple[float, float]:
    """The model with a column per source and hour, fractions of units allowed: ms and optimum."""
    hours, kinds = load.size, len(sources)
    held = [i for i, source in enumerate(sources) if not source.is_rented]
    columns = np.arange(hours * kinds).reshape(kinds, hours)
    serve = columns.T.ravel()
    values = np.tile([s.capacity for s in sources], hours)
    most = np.concatenate([np.stack([columns[i], np.full(hours, hours * kinds + n)], 1).ravel()
                           for n, i in enumerate(held)])  # fmt: skip
    starts = np.concatenate(
        [kinds * np.arange(hours), hours * kinds + 2 * np.arange(hours * len(held))]
    )
    cost = np.concatenate(
        [np.repeat([s.hour_cost for s in sources], hours), [sources[i].unit_cost for i in held]]
    )
    lower = np.concatenate([load, np.full(hours * len(held), -np.inf)])
    upper = np.concatenate([np.full(hours, np.inf), np.zeros(hours * len(held))])
    began = time.perf_counter()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.passModel(
        cost.size, lower.size, serve.size + most.size,
        int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0,
        cost, np.zeros(cost.size), np.full(cost.size, np.inf), lower, upper,
        starts.astype(np.int32), np.concatenate([serve, most]).astype(np.int32),
        np.concatenate([values, np.tile([1.0, -1.0], hours * len(held))]),
        np.zeros(cost.size, np.int32),
    )  # fmt: skip
    highs.run()
    return 1e3 * (time.perf_counter() - began), highs.getInfo().objective_function_value


def a_year() -> Row:
    """8,760 hours whose levels are whole nodes, so that fractions of units gain nothing."""
    random = np.random.default_rng(0)
    waves = 60 + 30 * np.sin(np.arange(8_760) / 24 * 2 * np.pi) + random.normal(0, 10, 8_760)
    load = 8.0 * np.ceil(np.maximum(waves, 0.0) / 8)
    sources = [
        HourSource("rent", 8.0, 24.0),
        HourSource("year", 8.0, 0.0, 90_000.0),
        HourSource("server", 8.0, 2.0, 60_000.0),
        HourSource("old", 8.0, 6.0, 30_000.0),
    ]
    ours = median_ms(lambda: dispatch_hours(load, sources))
    floor, optimum = hourly_ms(load, sources)
    plan = dispatch_hours(load, sources)
    apart = np.inf if plan is None else abs(plan.cost / optimum - 1)
    hold = f"<= 50 ms, the same cost to 1e-6 ({apart:.0e} apart)"
    return Row(
        "a year of hours, against a model of each", ours, floor, hold, ours <= 50 and apart <= 1e-6
    )


def bench() -> list[Row]:
    mixed = {months: [market(s, months, OFFERS, mixed=True) for s in SEEDS] for months in (36, 60)}
    servers = [market(seed, 60, OFFERS, mixed=False) for seed in SEEDS]
    one_size = [rented_and_committed(seed) for seed in SEEDS]
    return [
        row("one node size, 60 months", one_size, gap=0.0, ms=50),
        row("one node size, servers too, 60 months", servers, gap=0.0, ms=50),
        row("mixed sizes, every limit, 36 months", mixed[36], gap=GAP, ms=50),
        row("mixed sizes, every limit, 60 months", mixed[60], gap=GAP, ms=250),
        proven(),
        a_year(),
    ]

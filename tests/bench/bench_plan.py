"""The capacity plan against HiGHS left alone with the same problem."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import numpy as np

from planner.costing.optimizer.constraints import build_rows
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import solve
from planner.costing.optimizer.variables import StartColumns, continuous_columns
from planner.costing.optimizer.work import WorkMeter
from tests.bench.row import SHORT, Row, median_ms
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_instances import market, medium

SEEDS = range(2) if SHORT else range(5)
OFFERS = 2_000
PROVEN = range(3) if SHORT else range(20)
GAP = 0.01
WORST_EXCESS = 1e-3


def relaxation_ms(problem: PlanProblem) -> float:
    """Pruning and one run of HiGHS on what is left, fractions of units allowed: half an answer."""

    def relax() -> None:
        rows = build_rows(prune(problem))
        columns, start_columns = continuous_columns(rows), StartColumns(rows)
        nothing = np.zeros(columns.count)
        everything = start_columns.entries(np.arange(start_columns.cost.size))
        program = LinearProgram(rows.lower, rows.upper, WorkMeter())
        program.add_columns(columns.cost, nothing, nothing + np.inf, columns.entries)
        program.add_columns(
            start_columns.cost,
            0 * start_columns.cost,
            start_columns.candidates.upper_bound,
            everything,
        )
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
    ]

"""The capacity plan against HiGHS left alone with the same problem."""

import statistics
import time

from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import DEFAULT_GAP, solve
from tests.bench.row import SHORT, Row, median_ms
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_instances import market, medium

SEEDS = range(2) if SHORT else range(5)
OFFERS, HARD_OFFERS = 100, 60
PROVEN = range(3) if SHORT else range(20)
ORDINARY_MS, HARD_MS = 200.0, 4_000.0


def row(name: str, problems: list[PlanProblem], ms: float) -> Row:
    """Median over the problems; the gap is held in every one of them."""
    ours = statistics.median(median_ms(lambda p=p: solve(p)) for p in problems)
    worst = max(solve(problem).gap for problem in problems)
    hold = f"<= {ms:,.0f} ms, gap <= {DEFAULT_GAP:.2%} (worst {worst:.3%})"
    return Row(name, ours, 0.0, hold, ours <= ms and worst <= DEFAULT_GAP)


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
    hold = f"<= {DEFAULT_GAP:.2%} above each optimum (worst {worst:.3%}), sooner"
    ok = worst <= DEFAULT_GAP and ours <= floor
    return Row(f"{len(PROVEN)} plans, against HiGHS proving them", ours, floor, hold, ok)


def bench() -> list[Row]:
    sizes = {months: [market(s, months, OFFERS, mixed=False) for s in SEEDS] for months in (24, 36)}
    mixed = [market(seed, 36, HARD_OFFERS, mixed=True) for seed in SEEDS]
    return [
        row("one node size, 24 months", sizes[24], ORDINARY_MS),
        row("one node size, 36 months", sizes[36], ORDINARY_MS),
        row("mixed sizes, every limit, 36 months", mixed, HARD_MS),
        proven(),
    ]

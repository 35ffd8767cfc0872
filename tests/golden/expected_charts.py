"""What the charts of an answer must be drawn from: labels, series and marks, value by value."""

from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from tests.golden.expected_scenarios import feasible_groups, group_title, groups
from tests.golden.shown import TITLES, short_month

STACKS = ("owned", "committed", "reserved by date", "on demand", "spot")
KINDS = {
    "owned": "owned",
    "on_demand": "on demand",
    "dws_flex_start": "on demand",
    "spot": "spot",
    "low_priority": "spot",
    "capacity_block": "reserved by date",
    "dws_calendar_mode": "reserved by date",
}
CATEGORIES = {
    "compute": "machines rented",
    "commitment": "commitments",
    "upfront": "paid upfront",
    "capex": "servers",
    "install": "installation",
    "network_storage": "network and storage of servers",
    "storage": "storage of data",
    "egress": "data moved out",
    "staff": "people",
    "credit": "credits",
    "other": "other costs",
    "residual": "resale of servers",
}
LIMITS = {"constraints.total_budget": "Total budget"}
Series = dict[str, list[float]]


def charts(answer: ComparisonAnswer, shown: ScenarioAnswer) -> dict[str, tuple[list[Any], Series]]:
    """Key of each chart → labels of its axis, and values of each series."""
    months = [short_month(answer.start, i) for i in range(answer.horizon_months)]
    titles = [group_title(group) for group in feasible_groups(answer)]
    so_far = _cumulative(answer)
    is_gradual = any(len(set(values)) > 1 for values in so_far.values())
    every: dict[str, tuple[list[Any], Series]] = {
        **({"cumulative": ([*months, "end"], so_far)} if is_gradual else {}),
        "capacity": (months, _capacity(answer, shown)),
        "categories": (titles, _categories(answer)),
    }
    return every


def without_plan(answer: ComparisonAnswer) -> dict[str, tuple[list[Any], Series]]:
    """What is drawn where the scenario to lay out has no plan."""
    if not answer.recommended:
        return limits(answer)
    every = charts(answer, answer.recommended)
    first = "cumulative" if "cumulative" in every else "categories"
    return {first: every[first]}


def limits(answer: ComparisonAnswer) -> dict[str, tuple[list[Any], Series]]:
    """Where nothing is possible for one limit: what is asked, and what each scenario takes."""
    widest = {one.key: one for one in answer.scenarios}["hybrid"].relaxations
    if len(widest) != 1:
        return {}
    field = widest[0].field
    takes = {"As asked": widest[0].current_value}
    for group in groups(answer):
        for one in group[0].relaxations:
            if one.field == field:
                takes[group_title(group)] = one.required_value
    return {"limits": ([*takes], {LIMITS[field]: [*takes.values()]})}


def rivals(answer: ComparisonAnswer) -> list[ScenarioAnswer]:
    """The next best; then the best that buys nothing, where the advised plan buys."""
    best, other = answer.recommended, answer.recommendation.next_best
    found = [one for one in answer.scenarios if one.key == other]
    rented = best_rented(answer)
    if best and _buys(best) and rented and rented.lines not in [one.lines for one in found]:
        found.append(rented)
    return found


def best_rented(answer: ComparisonAnswer) -> ScenarioAnswer | None:
    """The allowed plan of least present value that buys nothing."""
    renting = [one for one in answer.feasible if one.allowed and not _buys(one)]
    return min(renting, key=lambda one: one.require_present_cost(), default=None)


def _buys(one: ScenarioAnswer) -> bool:
    return any(line.category == "capex" for line in one.lines)


def _cumulative(answer: ComparisonAnswer) -> Series:
    """Cost due so far by month, summed over the lines; the residual value only at the end."""
    assert answer.recommended
    titles = [f"Advised: {TITLES[answer.recommended.key]}"]
    titles += [TITLES[one.key] for one in rivals(answer)]
    plans = [answer.recommended, *rivals(answer)]
    return {title: spent(answer, one) for title, one in zip(titles, plans, strict=True)}


def spent(answer: ComparisonAnswer, one: ScenarioAnswer) -> list[float]:
    """What has fallen due by the end of each month, then everything."""
    return [
        *(
            round(sum(float(line.amount) for line in one.lines if line.month <= at), 2)
            for at in range(answer.horizon_months)
        ),
        float(one.require_total()),
    ]


def _capacity(answer: ComparisonAnswer, shown: ScenarioAnswer) -> Series:
    """Accelerators by kind of source, over the peak where it counts the same accelerator."""
    stacks = {kind: [0.0] * answer.horizon_months for kind in STACKS}
    used = set()
    for row in shown.capacity:
        offer = answer.offers.get(row.source)
        kind = KINDS.get(offer.purchase_option, "committed") if offer else "owned"
        stacks[kind][row.month] += row.accelerators
        used.add(kind)
    drawn = {kind: values for kind, values in stacks.items() if kind in used}
    kinds = {key: one.accelerator for key, one in answer.offers.items()}
    kinds |= {one.key: one.accelerator for one in answer.servers}
    if any(kinds[row.source] != answer.demand.accelerator for row in shown.capacity):
        return drawn
    return {**drawn, "peak demand": list(answer.demand.peak_accelerators)}


def _categories(answer: ComparisonAnswer) -> Series:
    plans = [group[0] for group in feasible_groups(answer)]
    names = dict.fromkeys(line.category.value for one in plans for line in one.lines)
    return {
        CATEGORIES.get(name, name.replace("_", " ")): [
            round(sum(float(li.amount) for li in one.lines if li.category == name), 2)
            for one in plans
        ]
        for name in names
    }

"""Cost of a machine against its hours of use: owned, and the cheapest rents that a plan may use.

The table holds every line of the answer's curve. The picture holds the lines that answer the
question: the server, the rent that is the cheapest by the hour, and the one that the break-even is
worked out against.
"""

from __future__ import annotations

from planner.contract.answer.break_even import (
    BreakEvenRow,
    CostCurveSeries,
    Crossing,
    name_paying_use,
)
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.purchase_options import OWNED, traits
from planner.costing.scenarios import scenario_options
from planner.web.answer.place_names import with_place
from planner.web.common.chart import Chart, Mark, Series


def hours_curve(answer: ComparisonAnswer) -> Chart | None:
    """Cost of a node against its hours of use a month: owned and each purchase option."""
    curve = answer.cost_curve
    if not curve.series:
        return None
    owned, rents = owned_line(answer), drawn_rents(answer)
    drawn = {one.key for one in (*filter(None, [owned]), *rents)}
    months = "while a bought one serves" if owned else "over the horizon"
    return Chart(
        key="hours-curve",
        title="How busy must it be before owning is cheaper?",
        kind="line",
        x_label="hours of use per month",
        y_label=f"cost of one machine {months}, {answer.currency} in today's money",
        unit=answer.currency,
        x=list(curve.hours_per_month),
        series=[
            Series(
                _name(answer, one),
                [float(value) for value in one.cost],
                traits(one.purchase_option).chart_role,
                in_picture=one.key in drawn,
            )
            for one in curve.series
        ],
        marks=[
            Mark(
                one.hours_per_month,
                float(one.cost),
                f"{one.hours_per_month:,.0f} h",
                in_picture={one.one, one.other} <= drawn and _is_answer(one, owned),
            )
            for one in curve.crossings
        ],
        summary=_summary(answer, owned, rents),
    )


def owned_line(answer: ComparisonAnswer) -> CostCurveSeries | None:
    """The server of the curve; None where no server that may be bought at the start pays back."""
    return next((one for one in answer.cost_curve.series if one.purchase_option == OWNED), None)


def drawn_rents(answer: ComparisonAnswer) -> list[CostCurveSeries]:
    """Of the rents that a plan may use the cheapest by the hour, and the one of the break-even or,
    without one, the cheapest in full use."""
    spot = answer.by_key.get(ScenarioKey.SPOT)
    options = scenario_options(ScenarioKey.CLOUD_MIX, spot is not None and spot.allowed)
    rents = [one for one in answer.cost_curve.series if one.purchase_option in options]
    if not rents:
        return []
    hourly = [one for one in rents if not one.cost[0]]
    row = _held_against(answer, options)
    against = [one for one in rents if row is not None and one.key == row.against]
    drawn = [min(hourly, key=_in_full_use)] if hourly else []
    drawn += against or [min(rents, key=_in_full_use)]
    return list({one.key: one for one in drawn}.values())


def _in_full_use(one: CostCurveSeries) -> float:
    return float(one.cost[-1])


def _held_against(answer: ComparisonAnswer, options: frozenset[str]) -> BreakEvenRow | None:
    """The break-even of the curve's server against the cheapest rent that a plan may use instead:
    of a term within the horizon."""
    owned = owned_line(answer)
    rows = [
        row
        for row in answer.break_even
        if owned is not None
        and owned.key == f"server:{row.server}"
        and row.purchase_option in options
        and row.term_months <= answer.horizon_months
    ]
    return min(rows, key=lambda row: row.rent_per_hour, default=None)


def _is_answer(crossing: Crossing, owned: CostCurveSeries | None) -> bool:
    """Whether a crossing says when owning is cheaper, or, without a server, when a rent is."""
    return owned is None or owned.key in (crossing.one, crossing.other)


def _name(answer: ComparisonAnswer, one: CostCurveSeries) -> str:
    return with_place(one.key, one.label, answer.region_names)


def _summary(
    answer: ComparisonAnswer, owned: CostCurveSeries | None, rents: list[CostCurveSeries]
) -> str:
    """From which use on the server is cheaper than each rent that is drawn."""
    others = len(answer.cost_curve.series) - len(rents) - (owned is not None)
    rest = " The other ways to rent are in the table." if others else ""
    if owned is None:
        return "No server that could be bought at the start pays for itself." + rest
    name = _name(answer, owned)
    if not rents:
        return f"{name}, bought: no rent that the plan may use does the same work." + rest
    turns = "; ".join(f"{_turn(answer, owned, rent)} than {_name(answer, rent)}" for rent in rents)
    return f"{name}, bought: {turns}.{rest}"


def _turn(answer: ComparisonAnswer, owned: CostCurveSeries, rent: CostCurveSeries) -> str:
    """`from 216 h of use a month (30%) on it costs less`: both lines are straight."""
    if rent.owning_pays:
        use = name_paying_use(rent.owning_pays, rent.owning_pays_at)
        words = {"never": "it never costs less", "from": f"{use} on it costs less"}
        return words.get(rent.owning_pays, f"{use} it costs less")
    pair = {owned.key, rent.key}
    meets = [one for one in answer.cost_curve.crossings if {one.one, one.other} == pair]
    is_cheaper_idle, is_cheaper_busy = (owned.cost[at] < rent.cost[at] for at in (0, -1))
    if not meets:
        return "at any use it costs less" if is_cheaper_busy else "it never costs less"
    at = f"{meets[0].hours_per_month:,.0f} h of use a month"
    return f"up to {at} it costs less" if is_cheaper_idle else f"from {at} on it costs less"

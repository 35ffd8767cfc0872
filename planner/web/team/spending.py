"""What a project costs by month and why, as charts and sentences of its page."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from planner.contract.amounts import name_month, shorten_month
from planner.models import BudgetPeriod
from planner.services.actuals.actuals import CAUSES, Variance
from planner.services.actuals.completion import BurnMonth, Headroom
from planner.web.common.chart import Chart, Series
from planner.web.common.formatting import money, number

CAUSE_WORDS = {
    "price": "Price of an hour",
    "usage": "Hours used",
    "unplanned": "Not planned",
    "other": "Not attributable",
}
_PERIOD_WORDS = {
    BudgetPeriod.TOTAL: "",
    BudgetPeriod.YEARLY: " for all months, set by the year",
    BudgetPeriod.MONTHLY: " for all months, set by the month",
}


def burn_chart(months: Sequence[BurnMonth], room: Headroom | None, currency: str) -> Chart | None:
    """Cumulative plan, what was paid, the estimate at completion with its range, the budget."""
    if not months:
        return None
    rows = [
        Series("Paid", _floats([one.actual for one in months]), "paid"),
        Series("Budget", _floats([room.budget if room else None] * len(months)), "budget"),
        Series("Estimate", _floats([one.estimate for one in months]), "next_best"),
        Series("Plan", _floats([one.planned for one in months]), "advised"),
        Series("Lowest", _floats([one.low for one in months]), "low"),
        Series("Highest", _floats([one.high for one in months]), "high"),
    ]
    return Chart(
        key="burn",
        title="Cost up to each month",
        kind="line",
        x_label="month",
        y_label=currency,
        unit=currency,
        x=[shorten_month(one.month) for one in months],
        series=[one for one in rows if any(v is not None for v in one.values)],
        summary=_burn_summary(months, currency),
        labels_at_lines=True,
    )


def _floats(values: Sequence[Decimal | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _burn_summary(months: Sequence[BurnMonth], currency: str) -> str:
    last = months[-1]
    paid = [one for one in months if one.actual is not None]
    parts = [f"The plan comes to {money(last.planned, currency)} by {name_month(last.month)}."]
    highest = max(months, key=lambda one: one.planned)
    if highest.planned > last.planned:
        parts.append(
            f"On the way it reaches {money(highest.planned, currency)}, in "
            f"{name_month(highest.month)}; resale and credits come off afterwards."
        )
    if paid:
        parts.append(
            f"Paid by {name_month(paid[-1].month)}: {money(paid[-1].actual, currency)} of "
            f"{money(paid[-1].planned, currency)} planned."
        )
    if last.estimate is not None and len(paid) < len(months):
        parts.append(
            "From there on the estimate: costs that follow use at the use so far and current "
            "prices, the rest as planned; where no hours are known, all at the ratio of paid to "
            "planned."
        )
    return " ".join(parts)


def headroom_sentence(room: Headroom) -> str:
    """What the budget leaves, in one sentence."""
    currency = room.currency
    subject = "At completion" if room.is_estimate else "The plan comes to"
    budget = f"a budget of {money(room.budget, currency)}{_PERIOD_WORDS[room.period]}"
    sentence = (
        f"{subject} {money(room.cost, currency)} against {budget}: {_left(room.left, currency)}"
    )
    if room.left_at_most_cost is not None and room.left_at_most_cost < 0 <= room.left:
        sentence += f", but at the highest month's ratio {_left(room.left_at_most_cost, currency)}"
    return f"{sentence}."


def _left(amount: Decimal, currency: str) -> str:
    return f"{money(abs(amount), currency)} {'left' if amount >= 0 else 'over'}"


def cause_chart(variance: Variance) -> Chart | None:
    """From the planned to the actual cost, cause by cause, hours named beside the money."""
    if variance.plan is None or not variance.cells:
        return None
    total = variance.as_dict()["total"]
    causes = {name: float(total["causes"][name]) for name in CAUSES}
    hours = variance.compared_hours()
    names = dict(CAUSE_WORDS)
    if hours is not None:
        names["usage"] += f" ({_more_hours(hours.actual - hours.planned)})"
    shown = [name for name in CAUSES if causes[name]]
    difference = Decimal(total["difference"])
    return Chart(
        key="causes",
        title="From plan to actual, by cause",
        kind="waterfall",
        x_label="cause",
        y_label=variance.currency,
        unit=variance.currency,
        x=["Planned", *(names[name] for name in shown), "Paid"],
        series=[
            Series(
                "Cost",
                [float(total["planned"]), *(causes[one] for one in shown), float(total["actual"])],
            )
        ],
        summary=_cause_summary(difference, variance, len({month for month, _ in variance.cells})),
    )


def _more_hours(more: float) -> str:
    return f"{number(abs(more))} accelerator-hours {'more' if more >= 0 else 'fewer'}"


def _cause_summary(difference: Decimal, variance: Variance, months: int) -> str:
    words = "more" if difference >= 0 else "less"
    span = f"{months} month{'s' if months > 1 else ''}"
    amount = money(abs(difference), variance.currency)
    summary = f"In {span} with an upload {amount} {words} than planned was paid."
    hours = variance.compared_hours()
    if hours is None:
        return f"{summary} Hours are not known on both sides, so use and price stay one."
    return (
        f"{summary} Where hours are known, {number(hours.actual)} accelerator-hours were used and "
        f"{number(hours.planned)} planned."
    )


def spend_chart(variance: Variance) -> Chart | None:
    """Plan and actual of each month with an upload."""
    rows = variance.as_dict()["months"]
    if not rows:
        return None
    plan = [Series("Plan", [float(row["planned"]) for row in rows], "advised", dashed=True)]
    return Chart(
        key="spend",
        title="Actual against planned spend",
        kind="bar",
        x_label="month",
        y_label=variance.currency,
        unit=variance.currency,
        x=[shorten_month(row["month"]) for row in rows],
        series=[
            Series("Actual", [float(row["actual"]) for row in rows], "paid"),
            *(plan if variance.plan else []),
        ],
        summary="Months without an upload are left out.",
    )

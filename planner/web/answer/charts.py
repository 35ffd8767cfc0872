"""Charts of a comparison as plain documents: what each asks, its axes, its series, its table.

Built from the answer's own figures; nothing is computed along a second route. `static/charts.js`
draws a document with ECharts; the table beside it comes from the same document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any

from planner.contract.labels import SCENARIO_TITLES
from planner.web.common.chart import Chart, Mark, Series
from planner.web.common.form_fields import ALL
from planner.web.common.formatting import figures
from pricing.market.offers import PurchaseOption

Answer = Mapping[str, Any]

SOURCES = ("owned", "committed", "on_demand", "spot")
"""Kinds of capacity, in the order in which they are stacked; colours follow them everywhere."""


def feasible(answer: Answer) -> list[Mapping[str, Any]]:
    return [scenario for scenario in answer["scenarios"] if scenario["feasible"]]


def months_of(answer: Answer) -> list[str]:
    """Labels of the horizon's months: `2027-01`, …"""
    year, month = (int(part) for part in str(answer["start"]).split("-")[:2])
    count = int(answer["horizon_months"])
    return [f"{year + (month - 1 + i) // 12}-{(month - 1 + i) % 12 + 1:02}" for i in range(count)]


def spent_by_month(scenario: Mapping[str, Any], months: int) -> list[Decimal]:
    """What falls due in each month; the residual after the last one."""
    spent = [Decimal(0)] * (months + 1)
    for line in scenario["lines"]:
        spent[min(int(line["month"]), months)] += Decimal(line["amount"])
    return spent


def cumulative(answer: Answer) -> Chart:
    """Cost so far, month by month, for every feasible scenario; the residual falls at the end."""
    labels = [*months_of(answer), "end"]
    series = [
        Series(
            SCENARIO_TITLES[scenario["key"]],
            [float(total) for total in accumulate(spent_by_month(scenario, len(labels) - 1))],
            scenario["key"],
        )
        for scenario in feasible(answer)
    ]
    crossing = _crossing(series, labels)
    return Chart(
        key="cumulative",
        title="When does buying pay off?",
        kind="line",
        x_label="month",
        y_label=f"spent so far, {answer['currency']}",
        x=labels,
        series=series,
        marks=[crossing] if crossing else [],
        summary=crossing.label
        if crossing
        else "No scenario that buys overtakes renting on demand.",
    )


def _crossing(series: Sequence[Series], labels: Sequence[str]) -> Mark | None:
    """First month in which the total of buying falls to that of renting on demand."""
    lines = {one.role: one.values for one in series}
    rent, own = lines.get("on_demand"), lines.get("on_prem") or lines.get("hybrid")
    if rent is None or own is None or (own[0] or 0) <= (rent[0] or 0):
        return None
    for i, label in enumerate(labels):
        if (own[i] or 0) <= (rent[i] or 0):
            return Mark(label, float(own[i] or 0), f"Buying has paid off by {label}")
    return None


def capacity(answer: Answer, scenario: Mapping[str, Any]) -> Chart:
    """Accelerators up in each month by source, over the demand."""
    labels = months_of(answer)
    kinds = kinds_of_sources(answer)
    stacks: dict[str, list[float]] = {}
    for row in scenario["capacity"]:
        stack = stacks.setdefault(kinds.get(row["source"], "on_demand"), [0.0] * len(labels))
        stack[int(row["month"])] += float(row["accelerators"])
    series = [
        Series(name.replace("_", " "), stacks[name], name) for name in SOURCES if name in stacks
    ]
    peak = [float(value) for value in answer["demand"]["peak_accelerators"]]
    series.append(Series("peak demand", peak, "demand", dashed=True))
    return Chart(
        key="capacity",
        title="What serves the demand, month by month?",
        kind="bar",
        x_label="month",
        y_label="accelerators",
        x=labels,
        series=series,
        digits=1,
        summary=f"Capacity by source of {SCENARIO_TITLES[scenario['key']].lower()} against a "
        f"peak of {max(peak, default=0):,.0f} accelerators.",
    )


def kind_of_option(purchase_option: str) -> str:
    """The kind of capacity that a purchase option gives; `owned` stays what it is."""
    if purchase_option == "owned":
        return purchase_option
    option = PurchaseOption(purchase_option)
    if option.is_commitment:
        return "committed"
    return "spot" if option.is_interruptible else "on_demand"


def kinds_of_sources(answer: Answer) -> dict[str, str]:
    """Kind of capacity by key of a source: owned, committed, on_demand or spot."""
    rented = {key: kind_of_option(o["purchase_option"]) for key, o in answer["offers"].items()}
    return rented | {server["key"]: "owned" for server in answer["servers"]}


def categories(answer: Answer) -> Chart:
    """Total of each scenario by category of cost."""
    sums: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    scenarios = feasible(answer)
    for scenario in scenarios:
        for line in scenario["lines"]:
            sums[line["category"]][scenario["key"]] += Decimal(line["amount"])
    series = [
        Series(category.replace("_", " "), [float(by_key[s["key"]]) for s in scenarios], category)
        for category, by_key in sums.items()
    ]
    return Chart(
        key="categories",
        title="What is the money spent on?",
        kind="hbar",
        x_label="scenario",
        y_label=f"total, {answer['currency']}",
        x=[SCENARIO_TITLES[s["key"]] for s in scenarios],
        series=series,
        summary="Cost by category of each scenario.",
    )


def hours_curve(answer: Answer) -> Chart | None:
    """Cost of a node against its hours of use a month: owned and each purchase option."""
    curve = answer.get("cost_curve") or {}
    if not curve.get("series"):
        return None
    hours = [float(value) for value in curve["hours_per_month"]]
    labels = {one["key"]: one["label"] for one in curve["series"]}
    series = [
        Series(one["label"], [float(value) for value in one["cost"]], _role(one))
        for one in curve["series"]
    ]
    crossings = curve.get("crossings", [])
    marks = [
        Mark(
            float(mark["hours_per_month"]),
            float(mark["cost"]),
            f"{float(mark['hours_per_month']):,.0f} h",
        )
        for mark in crossings
    ]
    said = [
        f"{labels[mark['one']]} and {labels[mark['other']]} cost the same at "
        f"{float(mark['hours_per_month']):,.0f} h a month"
        for mark in crossings
    ]
    is_bought = any(one["purchase_option"] == "owned" for one in curve["series"])
    months = "while a bought one serves" if is_bought else "over the horizon"
    return Chart(
        key="hours-curve",
        title="How busy must it be before owning is cheaper?",
        kind="line",
        x_label="hours of use per month",
        y_label=f"cost of one machine {months}, {answer['currency']} in today's money",
        x=hours,
        series=series,
        marks=marks,
        summary=". ".join([*said, ""]).strip() or "The lines do not cross.",
    )


def _role(line: Mapping[str, Any]) -> str:
    option = line.get("purchase_option")
    return kind_of_option(option) if option else "owned"


def fan(answer: Answer) -> Chart | None:
    """p10, p50 and p90 of each scenario's total."""
    risk = answer.get("risk") or {}
    keys = [key for key in SCENARIO_TITLES if isinstance(risk.get(key), Mapping)]
    if not keys:
        return None
    series = [Series(p, [float(risk[key][p]) for key in keys], p) for p in ("p10", "p50", "p90")]
    likely = risk.get("probability_cheapest") or {}
    best = max(likely, key=lambda key: float(likely[key]), default=None)
    return Chart(
        key="fan",
        title="How far could each total move?",
        kind="fan",
        x_label="scenario",
        y_label=f"total, {answer['currency']}",
        x=[SCENARIO_TITLES[key] for key in keys],
        series=series,
        summary=f"{SCENARIO_TITLES[best]} is cheapest in {float(likely[best]):.0%} of the "
        "futures tried."
        if best
        else "p10, p50 and p90 of each total.",
    )


def tornado(answer: Answer, base: Decimal) -> Chart | None:
    """What moves the recommended total, the strongest first."""
    rows = [row for row in answer.get("sensitivity") or [] if _swing(row)]
    if not rows:
        return None
    rows = sorted(rows, key=_swing, reverse=True)[:12]
    return Chart(
        key="tornado",
        title="Which assumption moves the total most?",
        kind="tornado",
        x_label="assumption",
        y_label=f"total, {answer['currency']}",
        x=[_range_label(row) for row in rows],
        series=[
            Series("at low", [float(row["total_at_low"]) for row in rows], "low"),
            Series("at high", [float(row["total_at_high"]) for row in rows], "high"),
        ],
        base=float(base),
        summary=f"{_range_label(rows[0])} moves the total most.",
    )


def _swing(row: Mapping[str, Any]) -> float:
    if row.get("total_at_low") is None or row.get("total_at_high") is None:
        return 0.0
    return abs(float(row["total_at_high"]) - float(row["total_at_low"]))


_PERCENT = {"factor", "fraction"}


def _range_label(row: Mapping[str, Any]) -> str:
    """`electricity per kwh 0.0575 to 0.239 USD/kWh`; factors and fractions in per cent."""
    name = _NAMES.get(row["field"]) or str(row["field"]).rpartition(".")[2].replace("_", " ")
    unit = str(row.get("unit", "")).partition(" ")[0]
    if unit in _PERCENT:
        return f"{name}, {_percent(row['low'])} to {_percent(row['high'])}"
    shown = "" if unit in ("ratio", "") else f" {row['unit']}"
    shown = shown.replace(" per full-time equivalent per year", " a year")
    return f"{name}, {figures(row['low'])} to {figures(row['high'])}{shown}"


def _percent(share: Any) -> str:
    return f"{float(share) * 100:.3g} %"


_NAMES = {
    **{field.path: field.label if field.label.isupper() else field.label.lower() for field in ALL},
    "workload.hours": "hours of work",
    "rental_prices": "rental prices",
    "on_prem.servers.unit_price": "price of servers",
    "on_prem.staff_cost_per_year": "cost of one FTE",
}
"""What the tornado calls its rows: the form's words."""

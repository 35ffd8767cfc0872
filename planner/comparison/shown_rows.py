"""What the page of a saved plan shows, as rows of text that stay as they were; what of it is told
otherwise later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from planner.contract.amounts import format_money, format_month, name_day, name_month
from planner.contract.answer.comparison import ComparisonAnswer, RowChange
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.figures import verdict_facts
from planner.contract.labels import (
    SCENARIO_TITLES,
    accelerator_name,
    category_title,
    choice_name,
    cloud_title,
    field_name,
    join_reasons,
    unit_words,
)

FIGURES, ASSUMPTIONS = "Figures", "Assumptions"
Row = Sequence[str]
"""Label, value and unit; any of them may be empty."""
Section = dict[str, Any]
"""A `title` and its `rows`."""
_VERBS = {"server": "buy", "commitment": "commit to", "capacity_block": "reserve"}


def shown_rows(answer: ComparisonAnswer) -> list[Section]:
    """What the page of a saved plan shows, section by section; empty sections are left out."""
    best = answer.recommended
    sections: list[tuple[str, Iterable[Row]]] = [
        ("Advice", _advice(answer)),
        (FIGURES, figure_rows(answer)),
        ("Ways to buy", _ways(answer)),
        ("What to buy or sign", _purchases(answer, best)),
        ("What is paid for", _costs(answer, best)),
        (
            "Due by month",
            (
                (name_month(_month(answer, month)), *_money(amount, answer.currency))
                for month, amount in enumerate(best.cash_per_month if best else ())
                if amount
            ),
        ),
        ("Fiscal years", _fiscal_years(answer, best)),
        ("Work", _work(answer)),
        ("Energy and carbon", _energy(best)),
        (ASSUMPTIONS, _assumptions(answer)),
        ("Price lists", _price_lists(answer)),
        ("To be aware of", (("", one, "") for one in answer.warnings)),
    ]
    return [
        {"title": title, "rows": rows}
        for title, values in sections
        if (rows := [list(row) for row in values])
    ]


def _advice(answer: ComparisonAnswer) -> Iterator[Row]:
    verdict = answer.verdict
    yield "What to do", answer.headline, ""
    if verdict is None:
        return
    for part in verdict.decision:
        yield part.sentence[:1].upper() + part.sentence[1:], *_money(part.amount, answer.currency)
    for reason in verdict.reasons:
        yield "Why", reason, ""
    for sentence in verdict.ask_first:
        yield "Ask first", sentence, ""
    for sentence in verdict.turns:
        yield "What would change it", sentence, ""


def figure_rows(answer: ComparisonAnswer) -> Iterator[Row]:
    """Total and figures of the verdict, and the exchange rate used."""
    verdict, currency = answer.verdict, answer.currency
    if verdict is None:
        return
    totals = ("Total", verdict.total, "money"), ("In today's money", verdict.present_value, "money")
    for title, value, kind in (*totals, *verdict_facts(answer)):
        yield title, *_write(value, kind, currency)
    if answer.exchange_rate:
        yield "Exchange rate", answer.exchange_rate.units_per_usd, f"{currency} per USD"


def _price_lists(answer: ComparisonAnswer) -> Iterator[Row]:
    for row in answer.catalog:
        day = f" of {name_day(row.as_of)}" if row.as_of else ""
        yield cloud_title(row.provider), f"revision {row.revision}{day}", ""


def _write(value: Any, kind: str, currency: str) -> tuple[str, str]:
    if kind == "money":
        return _money(value, currency)
    if kind == "price":
        return f"{value:,.2f}", currency
    if kind == "share":
        return f"{value:.0%}", "of cases"
    if kind == "month":
        return f"{value:%B %Y}", ""
    return (name_day(value) if kind == "day" else str(value)), ""


def _ways(answer: ComparisonAnswer) -> Iterator[Row]:
    for scenario in answer.scenarios:
        title = SCENARIO_TITLES[scenario.key]
        if scenario.total_cost is None:
            yield title, f"not possible: {join_reasons(scenario.why_not)}", ""
            continue
        if scenario.key == answer.recommendation.scenario:
            title = f"{title} (advised)"
        elif not scenario.allowed:
            title = f"{title} (not advised: {scenario.why_not_allowed})"
        yield title, *_money(scenario.total_cost, answer.currency)


def _purchases(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    for one in best.purchases if best else ():
        first, last = (name_month(_month(answer, at)) for at in (one.first, one.last))
        label = f"{name_month(_month(answer, one.month))}: {_VERBS[one.kind]} {one.label}"
        yield f"{label}, in service {first} to {last}", f"{one.units:,.6g}", unit_words(one.unit)
        if one.due_at_start:
            yield "due at its start", *_money(one.due_at_start, answer.currency)
        if one.due_per_month:
            amount, currency = _money(one.due_per_month, answer.currency)
            yield "due every month", amount, f"{currency} a month"


def _costs(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    if best is None:
        return
    for row in best.costs_by_source:
        count = f"{row.quantity:,.6g} {unit_words(row.unit)}"
        yield f"{row.label}, {count}", *_money(row.amount, answer.currency)
    for category, amount in best.cost_by_category.items():
        yield f"All {category_title(category)}", *_money(amount, answer.currency)


def _fiscal_years(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    for year in best.finance.fiscal_years if best and best.finance else ():
        for label, amount in (("cost", year.cost), ("paid", year.cash), ("capital", year.capital)):
            yield f"Fiscal year {year.fiscal_year}: {label}", *_money(amount, answer.currency)


def _work(answer: ComparisonAnswer) -> Iterator[Row]:
    work = answer.demand
    name = accelerator_name(work.accelerator)
    unit = f"{name} hours"
    yield "Hours", f"{work.total_hours:,.0f}", unit
    if work.range.holds:
        yield "In 8 of 10 cases", f"{work.total_hours_p10:,.0f} – {work.total_hours_p90:,.0f}", unit
    yield f"{name} at work at once, at most", f"{work.highest_peak:,.6g}", "accelerators"
    yield "How the hours were worked out", work.method, ""


def _energy(best: ScenarioAnswer | None) -> Iterator[Row]:
    energy = best.energy if best else None
    if energy and energy.kwh is not None:
        yield "Energy", f"{energy.kwh:,.0f}", "kWh"
    if energy and energy.kg_co2e_of_known_grid is not None:
        yield "Carbon of known grids", f"{energy.kg_co2e_of_known_grid:,.0f}", "kg CO2e"


def _assumptions(answer: ComparisonAnswer) -> Iterator[Row]:
    for row in answer.assumptions:
        value = choice_name(row.value)
        if not row.field.startswith("exchange_rates."):  # one of the figures
            yield field_name(row.field), "none" if value is None else str(value), row.unit


def _month(answer: ComparisonAnswer, index: int) -> str:
    return format_month(answer.month(index))


def _money(amount: Decimal, currency: str) -> tuple[str, str]:
    text = format_money(amount, currency).removesuffix(f" {currency}") if amount else "0"
    return text, currency


def list_changed_rows(then: list[Section], now: list[Section]) -> list[RowChange]:
    """Figures and assumptions that are told otherwise now, told newly or told no more."""
    before, after = _by_label(then), _by_label(now)
    return [
        RowChange(label=label, before=before.get(label, ""), after=after.get(label, ""))
        for label in {**before, **after}
        if before.get(label) != after.get(label)
    ]


def _by_label(sections: list[Section]) -> dict[str, str]:
    return {
        label: f"{value} {unit}".strip()
        for section in sections
        if section["title"] in (FIGURES, ASSUMPTIONS)
        for label, value, unit in section["rows"]
    }

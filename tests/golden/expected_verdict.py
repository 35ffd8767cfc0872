"""What the advice of an answer must look like: its figures, sentences, known prices and ages."""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import Decimal
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer, PriceAge, PriceCoverage
from planner.contract.answer.verdict import BudgetUse, DecisionPart
from tests.golden.shown import (
    OPTION_HEADS,
    PROVIDERS,
    TITLES,
    add_up,
    exact,
    money,
    number,
    percent,
    plain,
    short,
)

BUDGETS = {"total": "Budget", "capital": "Capital budget", "monthly": "Monthly budget"}
ACCELERATORS = {"nvidia-h100-80gb-sxm": "H100 SXM5 80 GB"}
MONTHS = tuple(calendar.month_name[1:])

CAUSES = {
    "hours": "hours",
    "project_end": "end of the project",
    "delivery": "delivery",
    "prices": "prices",
    "capacity": "interruptions and capacity",
    "quotes": "quotes",
    "resale": "resale",
}


def day(value: dt.date) -> str:
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def figures(answer: ComparisonAnswer) -> list[list[str]]:
    """Title and figure of each fact of the verdict, as page and paper write them."""
    told, currency = answer.verdict, answer.currency
    if told is None or told.total is None:
        return []
    every = {"Total": told.total, "In today's money": told.present_value, **workbook_facts(answer)}
    rows = []
    for title, value in every.items():
        if value in (None, ""):
            continue
        if isinstance(value, dt.date):
            words = day(value) if title == "Oldest rental price paid" else f"{value:%B %Y}"
        elif isinstance(value, float):
            words = f"{percent(value)} of cases"
        elif isinstance(value, Decimal):
            cents = 2 if 0 < abs(value) < 1000 else 0
            words = f"{value:,.{cents}f} {currency}"
        else:
            words = value
        rows.append([title, words])
    return rows


def _advised(answer: ComparisonAnswer) -> list[list[str]]:
    """When it pays back, and how often it stays the cheapest."""
    told, rows = answer.verdict, []
    assert told
    if told.capital_to_approve is not None:
        rows.append(["Pays back", payback(answer)])
    others = [one for one in answer.feasible if one.allowed and one.lines != _lines(answer)]
    if others and told.confidence is not None:
        assert answer.risk
        samples = answer.risk.samples
        cases = round(told.confidence * samples)
        shown = "all" if cases == samples else number(cases)
        rows.append(["Stays the cheapest", f"in {shown} of {number(samples)} simulated cases"])
    return rows


def first_facts(answer: ComparisonAnswer) -> list[list[str]]:
    """What the first screen says beside the expected cost: at most five facts."""
    told, currency = answer.verdict, answer.currency
    if told is None or told.total is None:
        return []
    said = {money(told.total if told.expected is None else told.expected, currency): "all of it"}
    if told.range:
        said[money(told.range.p10, currency)] = "the low end of the range"
    signed = {
        "Capital to approve now": told.capital_to_approve,
        "Contracts to sign now": told.obligation_to_sign,
        "Reserved by date": _by_date(answer),
    }
    amounts = {title: money(amount, currency) for title, amount in signed.items() if amount}
    rows = [[title, said.get(words, words)] for title, words in amounts.items()]
    rows = rows or [["To sign or approve now", "nothing"]]
    for one in told.budget:
        left = f"{money(abs(one.headroom), currency)} {'over' if one.headroom < 0 else 'left'}"
        left = "all left" if one.headroom == one.budget else left
        kept = [] if one.chance is None else [f"kept in {percent(one.chance)} of cases"]
        words = [left] if one.headroom < 0 or not kept else []
        rows.append([f"{_budget_title(one)} of {money(one.budget, currency)}",
                     ", ".join([*words, *kept])])  # fmt: skip
    if told.deadline:
        rows.append([f"Deadline {dt.date.fromisoformat(told.deadline + '-01'):%B %Y}",
                     f"kept in {percent(told.deadline_chance)} of cases"])  # fmt: skip
    return [*rows, *_advised(answer)][:5]


def _lines(answer: ComparisonAnswer) -> Any:
    assert answer.recommended
    return answer.recommended.lines


def _by_date(answer: ComparisonAnswer) -> Decimal:
    """What calendar reservations take before they begin, as the decision says it."""
    assert answer.verdict
    keys = {one.source for one in answer.verdict.decision if one.action == "reserve"}
    lines = answer.recommended.lines if answer.recommended else ()
    ahead = [one for one in lines if one.source in keys and one.category == "upfront"]
    return sum((one.amount for one in ahead), Decimal(0))


def _budget_title(use: BudgetUse) -> str:
    year = f" of fiscal year {use.fiscal_year}" if use.fiscal_year else ""
    return f"{BUDGETS[use.kind]}{year}"


def payback(answer: ComparisonAnswer) -> str:
    """Month in which what is bought has paid back, in words."""
    assert answer.verdict
    told = answer.verdict.payback
    if told is None:
        rented = [s for s in answer.feasible if s.allowed and "capex" not in s.cost_by_category]
        return "not within the plan" if rented else "nothing rented to compare with"
    year, month = map(int, told.split("-"))
    first_year, first_month = map(int, answer.start.split("-"))
    index = 12 * (year - first_year) + month - first_month
    is_within = index < answer.horizon_months
    return f"{MONTHS[month - 1]} {year}" if is_within else "only with the resale at the end"


def decision(answer: ComparisonAnswer) -> list[str]:
    """What to do, part by part, with what each costs in all."""
    parts = answer.verdict.decision if answer.verdict else ()
    hours = [exact(one.share_of_hours) * 100 for one in parts]
    whole = add_up([*hours, 100 - sum(hours)])
    shares = ["less than 1" if 0 < hour < 1 else n for hour, n in zip(hours, whole, strict=False)]
    return [
        f"{one.sentence[:1].upper()}{one.sentence[1:]} "
        f"{money(amount, answer.currency)} in all · {_machine_hours(answer, one.source)}"
        f"{share}% of the accelerator-hours{_price_day(answer, one)}"
        for one, amount, share in zip(parts, _whole(answer), shares, strict=False)
    ]


def beside_parts(answer: ComparisonAnswer) -> list[str]:
    """What is paid for nothing that the decision names: the total less its parts as shown."""
    if answer.verdict is None or answer.verdict.total is None:
        return []
    left = round(answer.verdict.total) - sum(_whole(answer)[:-1])
    kinds = {"tax": "tax", "other": "other costs", "egress": "data moved out"}
    named = {one.source for one in answer.verdict.decision}
    lines = answer.recommended.lines if answer.recommended else ()
    found = dict.fromkeys(kinds[one.category] for one in lines if one.source not in named)
    return [f"{money(left, answer.currency)} on top of these: {', '.join(found)}"] if left else []


def _whole(answer: ComparisonAnswer) -> list[int]:
    """The amounts and what is left, rounded, the worst then moved by one until all add up."""
    if answer.verdict is None or answer.verdict.total is None:
        return []
    exact = [one.amount for one in answer.verdict.decision]
    return add_up([*exact, answer.verdict.total - sum(exact)])


def _price_day(answer: ComparisonAnswer, part: DecisionPart) -> str:
    if part.source not in answer.offers or part.action == "keep":
        return ""
    seen = answer.offers[part.source].as_of
    return f" · price of {day(seen)}" if seen else " · price without a date"


def _machine_hours(answer: ComparisonAnswer, source: str) -> str:
    """What the lines of the advised plan rent of a machine."""
    plan = answer.recommended
    assert plan
    hours = [
        line.quantity
        for line in plan.lines
        if line.source == source and line.category == "compute" and line.unit == "node-hours"
    ]
    if not hours:
        return ""
    worked = exact(sum(hours))
    return f"{plain(round(worked, 1 if worked < 10 else 0))} machine-hours · "


def alternatives(answer: ComparisonAnswer) -> tuple[list[str], list[str]]:
    """The chips, and what is said of each behind them."""
    currency, found = answer.currency, answer.cheaper_if
    total = answer.verdict.total if answer.verdict else None
    chips = []
    for one in found:
        if one.saving is None:
            chips.append(f"{one.change} {money(one.total, currency)}")
            continue
        saved = money(one.saving, currency) + " in today's money"
        if total is not None and one.total < total:
            saved = money(round(total) - round(one.total), currency)
        chips.append(f"{one.change} −{saved}")
    behind = [
        f"{one.change[:1].upper()}{one.change[1:]}: {one.plan} {money(one.total, currency)} in "
        f"all. {one.why}"
        for one in found
    ]
    return chips, behind


def lists(answer: ComparisonAnswer) -> dict[str, list[str]]:
    """Title of each list below the figures → its sentences."""
    told = answer.verdict
    if told is None or told.total is None:
        return {}
    every = {"Why": list(told.reasons), "What would change it": list(told.turns)}
    return {title: rows for title, rows in every.items() if rows}


def old_headline(answer: ComparisonAnswer) -> str:
    """The line of figures below the recommendation of an answer kept before there were verdicts."""
    advice, best, currency = answer.recommendation, answer.recommended, answer.currency
    assert best is not None
    parts = [
        f"{short(best.total_cost, currency)} over {answer.horizon_months} months",
        f"{short(best.net_present_cost, currency)} in today's money",
    ]
    if advice.saving and advice.next_best:
        other = TITLES[advice.next_best].lower()
        parts[-1] += f", {short(advice.saving, currency)} less than {other}"
    if answer.risk:
        likely = percent(answer.risk.probability_cheapest[best.key])
        parts.append(f"cheapest in {likely} of {number(answer.risk.samples)} simulated outcomes")
    parts.append(f"proven within {percent(best.gap, 2)}")
    return " · ".join(parts)


# Prices ---------------------------------------------------------------------------------------


def coverage(answer: ComparisonAnswer) -> list[list[str]]:
    """Header and rows of the table of known prices; nothing where the answer has none."""
    by_place: dict[tuple[str, str], dict[str, PriceCoverage]] = {}
    for row in answer.coverage:
        by_place.setdefault((row.accelerator, row.provider), {})[row.purchase_option] = row
    if not by_place:
        return []
    options = [o for o in OPTION_HEADS if any(o in found for found in by_place.values())]
    assert {row.purchase_option for row in answer.coverage} == set(options)
    table = [["Accelerator", "Provider", *(OPTION_HEADS[o] for o in options)]]
    for (accelerator, provider), found in by_place.items():
        names = [ACCELERATORS[accelerator], PROVIDERS[provider]]
        table.append([*names, *(_known(found.get(o)) for o in options)])
    return table


def _known(row: PriceCoverage | None) -> str:
    states = {
        "not_sold": "not sold",
        "unknown": "not known",
        "sold_price_unknown": "sold, price not known",
    }
    if row is None or row.state != "priced":
        return states[row.state if row else "not_sold"]
    parts = ["1 price" if row.count == 1 else f"{number(row.count)} prices"]
    if row.newest is None:
        return f"{parts[0]}, undated"
    last = day(row.newest)
    parts.append(last if row.oldest == row.newest else f"{day(row.oldest)} to {last}")
    if row.undated:
        parts.append(f"{number(row.undated)} undated")
    return ", ".join(parts)


def ages(answer: ComparisonAnswer) -> list[list[str]]:
    """Rows of the ages of the prices, each part's by itself."""
    return [
        [PROVIDERS[row.provider], str(row.revision), day(row.as_of), day(row.oldest_price_as_of),
         f"{row.age_days} days", "; ".join(map(_age_of_part, row.parts))]
        for row in answer.catalog
    ] or [["No catalog prices were used."]]  # fmt: skip


def _age_of_part(part: PriceAge) -> str:
    words = part.part.replace("_", " ")
    if part.median_age_days is None:
        return f"{words} undated, undated"
    is_one_age = part.oldest_age_days == part.median_age_days
    oldest = "" if is_one_age else f" (oldest {part.oldest_age_days} days)"
    return f"{words} {part.median_age_days} days{oldest}, {day(part.last_confirmed)}"


# Workbook -------------------------------------------------------------------------------------


def workbook_facts(answer: ComparisonAnswer) -> dict[str, Any]:
    """Title of each figure of the advice on the summary sheet → its value."""
    told = answer.verdict
    assert told
    interval, owed = told.range, told.owed_after
    stopped = next((row.owed for row in answer.stops if row.months == 12), None)
    payback = dt.date.fromisoformat(f"{told.payback}-01") if told.payback else None
    allowance = {f"Risk allowance: {CAUSES[c]}": n for c, n in told.risk_allowance.items() if n}
    every: dict[str, Any] = {
        "Expected cost": told.expected,
        **allowance,
        "8 of 10 cases, from": interval and interval.p10,
        "8 of 10 cases, to": interval and interval.p90,
        "Of this range": (interval and interval.note) or None,
        **{f"A million tokens, {n}": x for n, x in answer.cost_per_million_tokens.items()},
        "Capital to approve now": told.capital_to_approve,
        "Contracts to sign now": told.obligation_to_sign,
        "Reserved by date": _by_date(answer) or None,
        "Due within the plan": told.within_horizon,
        "Owed afterwards": None if owed is None else max(owed, Decimal(0)),
        "Tax saved afterwards": -owed if owed and owed < 0 else None,
        "Owed if it stops after 12 months": stopped,
        "Resale counted": told.resale,
        "Pays back in": payback,
        "Stays the cheapest": told.confidence,
        "Oldest rental price paid": told.oldest_price,
    }
    for one in told.budget:
        every[f"{_budget_title(one)}, left"] = one.headroom
        every[f"{_budget_title(one)}, in words"] = one.sentence
    return {title: value for title, value in every.items() if value is not None}

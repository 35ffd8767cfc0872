"""Workbook: every cell is the answer's, and every formula gives the figure written with it."""

import datetime as dt
import io
import itertools
import re
from decimal import Decimal
from functools import cache
from typing import Any

import openpyxl
import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import category_title, choice_name, cloud_title, field_name
from planner.exports import FORMATS, Context
from pricing.market.accelerators import get
from tests.golden import expected_page
from tests.golden.answers import REQUESTS, answered
from tests.golden.expected_scenarios import between_semicolons
from tests.golden.shown import TITLES, first_day
from tests.properties import one_in

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""

requests = pytest.mark.parametrize("name", one_in(3, list(REQUESTS)))
Cells = list[list[Any]]
BUDGETS = {"total": "Budget", "capital": "Capital budget", "monthly": "Monthly budget"}
CAUSES = {"capacity": "interruptions and capacity", "project_end": "end of the project"}
_RANGE = re.compile(r"(?:'([^']+)'|(\w+))!\$?([A-Z]+)\$?(\d+)(?::\$?([A-Z]+)\$?(\d+))?")


@cache
def book(name: str, values: bool) -> dict[str, Cells]:
    """Sheet → cells, row by row: the values written, or the formulas."""
    context = Context(name="Golden", request=REQUESTS[name])
    raw = io.BytesIO(FORMATS["xlsx"].make(answered(name), context))
    sheets = openpyxl.load_workbook(raw, data_only=values)
    return {s.title: [[c.value for c in row] for row in s.iter_rows()] for s in sheets}


def body(name: str, sheet: str) -> Cells:
    return book(name, True)[sheet][1:]


def same(shown: Cells, told: Cells) -> bool:
    assert len(shown) == len(told)
    for a, b in zip(shown, told, strict=True):
        assert [_plain(one) for one in a] == [_plain(one) for one in b]
    return True


def _plain(value: Any) -> Any:
    """As a sheet holds it: numbers as floats, empty text as nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, str):
        try:
            return pytest.approx(float(value), rel=1e-12)
        except ValueError:
            return value or None
    return value if value is None or isinstance(value, dt.date) else pytest.approx(float(value))


@requests
def test_the_lines_are_the_answer_s(name: str) -> None:
    answer = answered(name)
    told = [
        [TITLES[one.key], first_day(answer.start, li.month), category_title(li.category), li.label,
         cloud_title(li.provider), li.region, li.instance_type,
         li.purchase_option.replace("_", " "), li.quantity, li.unit, li.unit_price, li.amount,
         li.offer_id, li.category, li.provider, li.purchase_option]
        for one in answer.feasible for li in one.lines
    ]  # fmt: skip
    assert same(body(name, "Lines"), told)


def _source(answer: ComparisonAnswer, source: str) -> str:
    offer = answer.offers.get(source)
    if offer is None:
        return next(server.label for server in answer.servers if server.key == source)
    place = f"{cloud_title(offer.provider)} {offer.zone or offer.region}".strip()
    return f"{offer.instance_type} at {place}, {offer.purchase_option.replace('_', ' ')}"


@requests
def test_the_capacity_is_the_answer_s(name: str) -> None:
    answer = answered(name)
    told = [
        [TITLES[one.key], first_day(answer.start, row.month), _source(answer, row.source),
         row.accelerators, row.hours_available, row.hours_used, row.source]
        for one in answer.feasible for row in one.capacity
    ]  # fmt: skip
    assert same(body(name, "Capacity"), told)


@requests
def test_demand_assumptions_and_offers_are_the_answer_s(name: str) -> None:
    answer = answered(name)
    work = answer.demand
    hours = [
        [
            first_day(answer.start, i),
            hours,
            work.peak_accelerators[i],
            get(work.accelerator).name,
            work.method,
            work.accelerator,
        ]
        for i, hours in enumerate(work.hours_per_month)
    ]
    assert same(body(name, "Demand"), hours)
    rows = [
        [field_name(r.field), choice_name(r.value), r.unit, r.given, r.source, r.field]
        for r in answer.assumptions
    ]
    assert same(body(name, "Assumptions"), rows)
    offers = [
        [key, cloud_title(o.provider), o.region, o.zone, o.instance_type,
         get(o.accelerator).name, o.accelerator_count, o.purchase_option.replace("_", " "),
         o.native_price_per_hour, o.native_upfront, o.native_currency,
         o.units_per_usd, o.multiplier if o.native_currency else None,
         o.as_of.isoformat() if o.as_of else None, o.sku, o.source,
         o.provider, o.accelerator, o.purchase_option]
        for key, o in answer.offers.items()
    ]  # fmt: skip
    assert same(body(name, "Offers"), offers)


@requests
def test_the_cash_flow_is_the_answer_s(name: str) -> None:
    answer, rows = answered(name), body(name, "Cash flow")
    scenarios = answer.feasible
    assert book(name, True)["Cash flow"][0][1 : len(scenarios) + 1] == [
        TITLES[s.key] for s in scenarios
    ]
    months = max((len(one.cash_per_month) for one in scenarios), default=0)
    for at, row in enumerate(rows[:months]):
        assert row[0].date() == first_day(answer.start, at)
        due = [one.cash_per_month[at] if at < len(one.cash_per_month) else None
               for one in scenarios]  # fmt: skip
        assert row[1 : len(due) + 1] == [None if d is None else float(d) for d in due]
    assert rows[months][1 : len(scenarios) + 1] == [float(s.require_total()) for s in scenarios]


@requests
def test_the_summary_holds_each_scenario_s_figures(name: str) -> None:
    answer, rows = answered(name), book(name, True)["Summary"]
    table = {row[0]: row[1:5] for row in rows if row[0] in TITLES.values()}
    for one in answer.scenarios:
        shown = table[TITLES[one.key]]
        if one.feasible:
            per_hour = one.levelised_cost_per_accelerator_hour
            figures = (one.total_cost, one.net_present_cost, per_hour)
            assert shown[:3] == [float(figure) for figure in figures if figure is not None]
        else:
            assert shown == [None, None, None, f"not possible: {between_semicolons(one.why_not)}"]
    facts = {row[0]: row[1] for row in rows}
    advised = answer.recommendation.scenario
    best = TITLES[advised] if advised else "nothing is feasible"
    shown = [facts[title] for title in ("Start", "Months", "Currency", "Recommended")]
    assert shown == [answer.start, answer.horizon_months, answer.currency, best]
    texts = [row[0] for row in rows]
    for sentence in (*expected_page.advice(answer), *answer.warnings):
        assert sentence in texts


@requests
def test_the_summary_holds_the_figures_of_the_advice(name: str) -> None:
    told = answered(name).verdict
    assert told
    rows = book(name, True)["Summary"]
    first = next(i for i, row in enumerate(rows) if row[0] == "Recommended") + 1
    block = itertools.takewhile(lambda row: row[0], rows[first:])
    wanted = [[title, value] for title, value in workbook_facts(answered(name)).items()]
    assert same([row[:2] for row in block], wanted)


def workbook_facts(answer: ComparisonAnswer) -> dict[str, Any]:
    """Title of each figure of the advice on the summary sheet → its value."""
    told = answer.verdict
    assert told
    interval, owed = told.range, told.owed_after
    stop = next((row for row in answer.stops if row.months == 12), None)
    payback = dt.date.fromisoformat(f"{told.payback}-01") if told.payback else None
    causes = ((CAUSES.get(c, c), n) for c, n in told.risk_allowance.items() if n)
    every: dict[str, Any] = {
        "Expected cost": told.expected,
        **{f"Risk allowance: {cause}": n for cause, n in causes},
        "8 of 10 cases, from": interval and interval.p10,
        "8 of 10 cases, to": interval and interval.p90,
        "Of this range": (interval and interval.note) or None,
        **{f"A million tokens, {n}": x for n, x in answer.cost_per_million_tokens.items()},
        "Capital to approve first": told.capital_to_approve,
        "Contracts to sign first": told.obligation_to_sign,
        "Reserved by date": _by_date(answer) or None,
        "Due within the plan": told.within_horizon,
        "Owed afterwards": None if owed is None else max(owed, Decimal(0)),
        "Tax saved afterwards": -owed if owed and owed < 0 else None,
        "Owed if it stops after 12 months": stop and stop.owed,
        "Paid and lost if it stops after 12 months": (stop and stop.paid_ahead) or None,
        "Resale counted": told.resale,
        "Pays back in": payback,
        "Deadline kept": told.deadline_chance,
        "Stays the cheapest": told.confidence,
        "Oldest rental price paid": told.oldest_price,
    }
    for one in told.budget:
        year = f" of fiscal year {one.fiscal_year}" if one.fiscal_year else ""
        title = f"{BUDGETS[one.kind]}{year}"
        every[f"{title}, left"] = one.headroom
        every[f"{title}, in words"] = one.sentence
    return {title: value for title, value in every.items() if value is not None}


def _by_date(answer: ComparisonAnswer) -> Decimal:
    """What calendar reservations take before they begin, as the decision says it."""
    assert answer.verdict
    keys = {one.source for one in answer.verdict.decision if one.action == "reserve"}
    lines = answer.recommended.lines if answer.recommended else ()
    ahead = [one for one in lines if one.source in keys and one.category == "upfront"]
    return sum((one.amount for one in ahead), Decimal(0))


def cells(name: str, sheet: str, address: str) -> list[Any]:
    """Values of a range, which may name its sheet."""
    if "!" not in address:
        address = f"'{sheet}'!{address}"
    match = _RANGE.fullmatch(address)
    assert match, address
    quoted, bare, column, first, _, last = match.groups()
    index = openpyxl.utils.column_index_from_string(column) - 1
    rows = book(name, True)[quoted or bare]
    return [row[index] for row in rows[int(first) - 1 : int(last or first)]]


def evaluate(name: str, sheet: str, formula: str) -> float:
    """What a spreadsheet makes of one of our formulas."""
    inner = formula.removeprefix("=")
    function, arguments = re.fullmatch(r"(\w+)\((.+)\)", inner).groups()  # type: ignore[union-attr]
    ranges = [cells(name, sheet, one) for one in arguments.split(",")]
    return _FUNCTIONS[function](ranges)


def _sum_where(ranges: Cells) -> float:
    amounts, *criteria = ranges
    pairs = list(zip(criteria[::2], criteria[1::2], strict=True))
    return sum(
        float(amount or 0)
        for i, amount in enumerate(amounts)
        if all(keys[i] == wanted for keys, (wanted,) in pairs)
    )


_FUNCTIONS = {"SUM": lambda ranges: sum(float(one or 0) for one in ranges[0]), "SUMIFS": _sum_where}


@requests
def test_every_formula_gives_the_figure_written_with_it(name: str) -> None:
    formulas = 0
    for sheet, rows in book(name, False).items():
        for at, row in enumerate(rows):
            for column, formula in enumerate(row):
                if isinstance(formula, str) and formula.startswith("="):
                    written = book(name, True)[sheet][at][column]
                    given = evaluate(name, sheet, formula)
                    assert given == pytest.approx(written, abs=2e-6), (sheet, at, formula)
                    formulas += 1
    feasible = len(answered(name).feasible)
    assert formulas >= 2 * feasible


@requests
def test_totals_are_formulas_and_not_written_figures(name: str) -> None:
    rows = {row[0]: row for row in book(name, False)["Summary"]}
    for one in answered(name).feasible:
        assert rows[TITLES[one.key]][1].startswith("=SUMIFS(Lines!")

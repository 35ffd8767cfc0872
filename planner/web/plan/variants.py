"""Up to four variants of a plan side by side: totals, differences, and what was changed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.http import QueryDict

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES, category_title
from planner.contract.money import subtract_as_shown
from planner.contract.months import shorten_month
from planner.models import Team
from planner.services.projects.comparisons import ComparisonOutcome
from planner.web.answer.payback_chart import END, cumulative_totals
from planner.web.answer.verdict_facts import short_title
from planner.web.common.chart import Chart, Series
from planner.web.common.choices import list_choices
from planner.web.common.form_fields import find_field, find_label, value_in_box
from planner.web.common.formatting import money, singular
from planner.web.common.plan_request import answer_plan
from planner.web.common.query_codec import flatten
from planner.web.common.view_helpers import describe_refusal
from pricing.common.bounded import number_problem, read_decimal

NAMES = ("a", "b", "c", "d")
"""Names of the variants in the address of the page, each holding the address of a plan."""
MOST = len(NAMES)
_ROW = re.compile(r"(\w+)\.(\d+)\.")
"""One of several: a run, a server, a quota."""
_KIND = "workload.kind"
_KINDS = {"training": "a model", "samples": "samples", "accelerator_hours": "accelerator-hours"}
"""What the work of a plan is given as."""


@dataclass(frozen=True)
class ComparedPlan:
    """One plan with its answer, or why there is none."""

    name: str
    address: str
    title: str
    outcome: ComparisonOutcome

    @property
    def answer(self) -> ComparisonAnswer | None:
        return self.outcome.result

    @property
    def currency(self) -> str:
        return self.answer.currency if self.answer else self.outcome.request.get("currency", "USD")

    @property
    def best(self) -> ScenarioAnswer | None:
        """The advised scenario."""
        return self.answer.recommended if self.answer else None

    @property
    def headline(self) -> str:
        if self.answer is None:
            return "; ".join(map(describe_refusal, self.outcome.errors)) or "No workload yet"
        return self.answer.headline

    def scenario(self, key: ScenarioKey) -> ScenarioAnswer | None:
        """One way of buying; None where there is no answer."""
        return self.answer.by_key[key] if self.answer else None

    @property
    def hours(self) -> float | None:
        return self.answer.demand.total_hours if self.answer else None


@dataclass(frozen=True)
class Cell:
    """A total, and what it differs by from the first variant."""

    total: Decimal | None
    difference: Decimal | None
    currency: str
    scenario: ScenarioAnswer | None = None
    """Says whether it may be advised, and why not."""

    @property
    def shown_difference(self) -> Decimal | None:
        """The difference as a reader finds it who subtracts both totals as shown."""
        if self.total is None or self.difference is None:
            return None
        return subtract_as_shown(self.total, self.total - self.difference)


@dataclass(frozen=True)
class ChangedField:
    """A field that the variants give differently."""

    label: str
    values: tuple[str, ...]


def answer_plans(addresses: Sequence[str], team: Team | None) -> list[ComparedPlan]:
    """Each address answered; sensitivity and risk left out, which no column shows."""
    plans = []
    for name, address in zip(NAMES, addresses, strict=False):
        query = QueryDict(address)
        outcome = answer_plan(query, team, brief=True)
        title = short_title(outcome.answer) if outcome.has_answer else "Plan"
        title = str(outcome.request.get("name") or title)
        plans.append(ComparedPlan(name, address, f"{name.upper()} · {title}", outcome))
    return plans


def total_rows(plans: Sequence[ComparedPlan]) -> list[tuple[str, list[Cell]]]:
    """The advised total, then that of each scenario, in every variant."""
    rows = [("As recommended", _cells(plans, [one.best for one in plans]))]
    for key, title in SCENARIO_TITLES.items():
        rows.append((title, _cells(plans, [one.scenario(ScenarioKey(key)) for one in plans])))
    return rows


def _cells(plans: Sequence[ComparedPlan], scenarios: Sequence[ScenarioAnswer | None]) -> list[Cell]:
    totals = [one.total_cost if one else None for one in scenarios]
    currencies = [one.answer.currency if one.answer else "" for one in plans]
    cells = []
    for i, (total, currency) in enumerate(zip(totals, currencies, strict=True)):
        first = totals[0] if i and currency == currencies[0] else None
        difference = total - first if total is not None and first is not None else None
        cells.append(Cell(total, difference, currency, scenarios[i]))
    return cells


def changed_fields(plans: Sequence[ComparedPlan]) -> list[ChangedField]:
    """Fields of the requests that are not the same in all variants."""
    requests = [_said_fields(one) for one in plans]
    paths = dict.fromkeys(path for values in requests for path in values)
    return [
        ChangedField(_label(path), tuple(values.get(path, "") for values in requests))
        for path in paths
        if path != "name" and len({values.get(path) for values in requests}) > 1
    ]


def _said_fields(one: ComparedPlan) -> dict[str, str]:
    """What a plan asks, field by field; months and currency also where they were left out."""
    request = dict(one.outcome.request)
    if one.answer:
        answered = {"start": one.answer.start, "horizon_months": one.answer.horizon_months}
        request = {**answered, "currency": one.answer.currency, **request}
    values: dict[str, list[str]] = defaultdict(list)
    for path, value in flatten(request):
        values[path].append(_say(path, value, one.currency))
    return {
        path: f"{', '.join(texts)}{_unit(path, one.currency)}" for path, texts in values.items()
    }


def _label(path: str) -> str:
    """The form's label; of one of several the number too: `Start of run 2`.

    >>> _label("workload.runs.1.start"), _label("horizon_months"), _label("workload.kind")
    ('Start of run 2', 'Horizon', 'Given is')
    """
    if path == _KIND:
        return "Given is"
    label = find_label(path)
    row = _ROW.search(path)
    if row is None:
        return label
    return f"{label} of {singular(row[1].replace('_', ' '))} {int(row[2]) + 1}"


def _say(path: str, value: str, currency: str) -> str:
    """A choice by its name, money with its currency, anything else as its box shows it."""
    field = find_field(path)
    if path == _KIND:
        return _KINDS.get(value, value)
    if field and field.choices:
        return dict(list_choices(field.choices)).get(value, value)
    if field and field.unit == "money" and not number_problem(value):
        return money(read_decimal(value), currency)
    return value_in_box(path, value)


def _unit(path: str, currency: str) -> str:
    """What stands behind the box, where the figure is not said with it already.

    >>> _unit("horizon_months", "EUR"), _unit("constraints.monthly_budget", "EUR")
    (' months', '')
    """
    field = find_field(path)
    if field is None or not field.unit or field.scale or field.unit == "money":
        return ""
    return f" {field.unit.replace('money', currency)}"


def build_charts(plans: Sequence[ComparedPlan]) -> list[Chart]:
    """The advised plans over time, and what each is spent on; none where currencies differ."""
    with_answer = [one for one in plans if one.answer and one.best]
    currencies = {one.answer.currency for one in with_answer if one.answer}
    if len(with_answer) < 2 or len(currencies) != 1:
        return []
    currency = currencies.pop()
    return [_over_time(with_answer, currency), _by_category(with_answer, currency)]


def _over_time(plans: Sequence[ComparedPlan], currency: str) -> Chart:
    answers = [one.answer for one in plans if one.answer]
    labels = [*max(answers, key=lambda answer: answer.horizon_months).months, END]
    series = [
        Series(one.title, _cumulative(one, labels)) for one in plans if one.best and one.answer
    ]
    return Chart(
        key="variants",
        title="Cumulative cost by plan",
        kind="line",
        x_label="month",
        y_label=f"spent so far, {currency}",
        unit=currency,
        x=[*map(shorten_month, labels[:-1]), END],
        series=series,
        summary="The advised plan of each variant, month by month.",
    )


def _cumulative(one: ComparedPlan, labels: Sequence[str]) -> list[float | None]:
    if one.answer is None or one.best is None:
        return []
    own = [*one.answer.months, END]
    spent = cumulative_totals(one.best, one.answer.horizon_months)
    totals: dict[str, float] = dict(zip(own, map(float, spent), strict=True))
    return [totals.get(label) for label in labels]


def _by_category(plans: Sequence[ComparedPlan], currency: str) -> Chart:
    sums = [one.best.cost_by_category if one.best else {} for one in plans]
    categories = [name for name in Category if any(name in costs for costs in sums)]
    return Chart(
        key="variants-categories",
        title="What is the money spent on?",
        kind="hbar",
        x_label="variant",
        y_label=f"total, {currency}",
        unit=currency,
        x=[one.title for one in plans],
        series=[
            Series(category_title(name), [float(c.get(name) or 0) for c in sums], name.value)
            for name in categories
        ],
        summary="Cost by category of the advised plan of each variant.",
    )

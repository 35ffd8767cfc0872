"""A comparison as the answer page shows it: verdict, scenarios, charts and tables of one answer.

Works on the answer alone, so that a fresh one and a saved one look the same.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import cached_property

from django.http import QueryDict

from planner.comparison.shown_rows import figure_rows
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.risk import BreakEvenRow, Driver
from planner.contract.answer.scenario import Relaxation, least_changes
from planner.contract.answer.verdict import Alternative
from planner.contract.labels import (
    CHANCE_TO_MISS,
    MISSES_ITS_DEADLINE,
    SCENARIO_TITLES,
    SECURE_CAPACITY,
    comes_first,
)
from planner.web.answer import assumptions, charts, tables, verdict
from planner.web.common.chart import Chart
from planner.web.common.choices import server_title
from planner.web.common.fields import find_field, with_labels
from planner.web.common.formatting import arrange_coverage, plain
from planner.web.common.query_codec import SCALES, write


class AnswerPage:
    """What the answer's templates draw. `shown` is the scenario whose plan is laid out."""

    def __init__(
        self, answer: ComparisonAnswer, shown: str = "", query: QueryDict | None = None
    ) -> None:
        self.answer = answer
        self.query = query or QueryDict()
        self.currency = answer.currency
        self.recommended = answer.recommended
        chosen = answer.by_key[ScenarioKey(shown)] if shown in SCENARIO_TITLES else self.recommended
        self.shown = chosen if chosen and chosen.feasible else None
        self.title = answer.name or verdict.short_title(answer)
        self.headline = with_labels(answer.headline)
        self.verdict = answer.verdict
        self.reasons = tuple(map(with_labels, (self.verdict or answer.recommendation).reasons))
        self.decision = verdict.decision_parts(answer)
        self.beside_parts = verdict.beside_parts(answer)
        self.figure_rows = list(figure_rows(answer))
        self.first_facts = verdict.first_facts(answer)
        self.assumed = verdict.assumed(answer)
        self.returns = verdict.list_returns(self.shown.finance, self.currency) if self.shown else []
        finance = self.shown.finance if self.shown else None
        self.fiscal = tables.FiscalTable.of(finance.fiscal_years if finance else ())
        self.rows = tables.scenario_rows(answer)
        self.possible = [row for row in self.rows if row.scenario.feasible]
        self.risk_rows = [row for row in self.rows if row.range is not None]
        self.energy = [row for row in self.possible if row.scenario.energy]
        self.assumptions = [
            assumptions.assumption_row(row, self.currency)
            for row in answer.assumptions
            if not row.field.startswith(assumptions.RATE)  # `plan_rows` has it
        ]
        self.coverage = arrange_coverage(answer.coverage)
        self.is_small = self.verdict is not None and self.verdict.is_small
        self.is_short = self.is_small or self.shown is None

    @property
    def expected_cost(self) -> Decimal | None:
        """The headline; the cost as stated where no outcomes were simulated."""
        if self.recommended is None:
            return None
        expected = self.verdict.expected if self.verdict is not None else None
        return self.recommended.total_cost if expected is None else expected

    @property
    def first_warnings(self) -> list[tuple[str, str]]:
        """What has to be seen before the advice, without what the deadline's own line says: its
        first clause, and the whole."""
        first = filter(comes_first, self.answer.warnings)
        shown = [with_labels(one) for one in first if MISSES_ITS_DEADLINE not in one]
        return [(re.split(r": |; |\. ", one)[0], one) for one in shown]

    @property
    def money_sentence(self) -> str:
        if self.verdict is None:
            return ""
        return with_labels(self.verdict.sentence.removeprefix(self.verdict.headline).strip())

    @property
    def in_the_way(self) -> list[str]:
        """Why no plan is possible, a clause each."""
        return [] if self.recommended else re.split(r"(?<=[;.]) ", self.money_sentence)

    @property
    def to_secure(self) -> str:
        """That more machines are rented by the hour than clouds keep ready; else empty."""
        return " ".join(re.findall(rf"{SECURE_CAPACITY}: .*? by the hour\.", self.money_sentence))

    @property
    def deadline(self) -> str:
        """What mends a deadline that is likely missed; empty where it is hardly."""
        match = re.search(rf"{CHANCE_TO_MISS}[^;]*; (.* more accelerators)", self.money_sentence)
        return f"{match[1]} keep the deadline in 9 of 10 cases." if match else ""

    @cached_property
    def alternatives(self) -> list[tuple[Alternative, str, str]]:
        """What would be cheaper with one rule lifted, the address that lifts it, what it saves."""
        return [
            (one, _lift(self.query, one), verdict.saving_words(one, self.currency))
            for one in self.answer.cheaper_if
        ]

    @property
    def chips(self) -> list[tuple[Alternative, str, str]]:
        """The same without the limits that a button of `loosenings` lifts already."""
        taken = {one.field for one in self._needed}
        return [row for row in self.alternatives if row[0].field not in taken]

    @cached_property
    def _needed(self) -> tuple[Relaxation, ...]:
        return () if self.recommended else tuple(least_changes(self.answer.by_key))

    @cached_property
    def loosenings(self) -> list[tuple[str, str]]:
        """Where nothing is feasible: what would do, each with the address that asks for it. Limits
        that must change together are one."""
        groups = [[one] for one in self._needed if one.is_sufficient]
        together = [one for one in self._needed if not one.is_sufficient]
        return [
            (
                " and ".join(one.change for one in group),
                _change(self.query, {one.field: _in_address(one.required_value) for one in group}),
            )
            for group in [*groups, *([together] if together else [])]
        ]

    @property
    def nearest(self) -> Alternative | None:
        """Where nothing is feasible: the cheapest plan that one limit lifted makes possible."""
        return None if self.recommended or not self.alternatives else self.alternatives[0][0]

    @cached_property
    def first_chart(self) -> Chart | None:
        if self.recommended is None:
            return charts.limits(self.answer)
        return charts.payback(self.answer) or charts.categories(self.answer)

    @cached_property
    def reason_charts(self) -> list[Chart]:
        chart = None if self.is_short else charts.trigger(self.answer)
        return [chart] if chart else []

    @cached_property
    def time_charts(self) -> list[Chart]:
        if self.is_short or self.shown is None:
            return []
        capacity, spent = charts.capacity(self.answer, self.shown), charts.categories(self.answer)
        is_spent_first = self.first_chart is not None and self.first_chart.key == spent.key
        return [capacity] if is_spent_first else [capacity, spent]

    @property
    def charts(self) -> list[Chart]:
        first = [self.first_chart] if self.first_chart else []
        return [*first, *self.reason_charts, *self.time_charts]

    @property
    def range_bar(self) -> tables.Span | None:
        """Range and expected cost in per cent of its upper end."""
        interval = self.verdict.range if self.verdict else None
        if interval is None or self.expected_cost is None or interval.p90 <= 0:
            return None
        low, at = (float(one / interval.p90 * 100) for one in (interval.p10, self.expected_cost))
        return tables.Span(at=min(at, 99.0), left=max(low, 0.0), width=100 - max(low, 0.0))

    @cached_property
    def purchases(self) -> list[tables.PurchaseRow]:
        return tables.purchase_rows(self.answer, self.shown) if self.shown else []

    @cached_property
    def sources(self) -> list[tables.SourceRow]:
        if self.shown is None:
            return []
        return tables.cost_rows(self.shown.costs_by_source, self.answer, self.answer.region_names)

    @property
    def quantity_digits(self) -> int:
        """Decimals of all quantities in their column."""
        return 0 if all(row.is_whole for row in self.sources) else 2

    @property
    def peak(self) -> str:
        """Most accelerators at once, to a tenth: `3.3 accelerators`."""
        most = round(self.answer.demand.highest_peak, 1)
        return f"{plain(most)} {'accelerator' if most == 1 else 'accelerators'}"

    @property
    def counts_in_reference(self) -> bool:
        """Whether hours are those of an accelerator that only serves to count them: the advised
        plan uses another."""
        paid = self.recommended.costs_by_source if self.recommended else ()
        offers = self.answer.offers
        used = {offers[row.source].accelerator for row in paid if row.source in offers}
        return bool(used) and self.answer.demand.accelerator not in used

    @property
    def drivers(self) -> list[tuple[Driver, str]]:
        return [(row, charts.span(row)) for row in self.answer.drivers]

    @cached_property
    def sliders(self) -> list[tuple[Driver, str, Decimal]]:
        """Drivers on the scale of their range, each with the box that it moves and the factor of
        that box's unit; a driver without a box moves nothing but the total beside it."""
        boxes = {row.path: row for row in self.boxes if row.name}
        rows = [row for row in self.answer.drivers if row.value is not None and row.effect]
        return [
            (
                row,
                boxes[row.field].element if row.field in boxes else "",
                1 / SCALES.get(getattr(find_field(row.field), "scale", ""), Decimal(1)),
            )
            for row in rows
        ]

    @property
    def curves(self) -> str:
        """Expected cost at the low, the present and the high value of each driver, and where the
        advice turns, for scripts."""
        now = float(self.expected_cost or 0)
        return json.dumps(
            {
                row.field: [
                    (row.low, float(row.expected_at_low)),
                    (row.value, now),
                    (row.high, float(row.expected_at_high)),
                    row.turns_at,
                ]
                for row, _, _ in self.sliders
            }
        )

    @property
    def break_even(self) -> list[tuple[str, str, BreakEvenRow]]:
        named = self.answer.labels
        return [
            (
                named.get(f"server:{row.server}") or server_title(row.server),
                tables.with_place(row.against, row.label, self.answer.region_names),
                row,
            )
            for row in self.answer.break_even
        ]

    @cached_property
    def boxes(self) -> list[assumptions.AssumptionRow]:
        return [*assumptions.plan_rows(self.answer, self.query), *self.assumptions]

    @property
    def given_boxes(self) -> str:
        """Elements of the boxes whose value is given, for scripts: `a-on-prem-pue a-start`."""
        return " ".join(row.element for row in self.boxes if row.name and row.given)

    @property
    def kept_address(self) -> list[tuple[str, str]]:
        return assumptions.kept_address(self.query, self.boxes)

    @cached_property
    def warnings(self) -> list[str]:
        sentences = self.answer.warnings + (self.shown.warnings if self.shown else ())
        return list(dict.fromkeys(map(with_labels, sentences)))


def _lift(address: QueryDict, one: Alternative) -> str:
    field, value = one.field, one.value
    if value is not None and value != ():
        changes = {field: value, **one.together_with}
        return _change(address, {name: _in_address(to) for name, to in changes.items()})
    parts = (f"{field}.", f"{field}~")
    return write(address, **{n: None for n in address if n == field or n.startswith(parts)})


def _change(address: QueryDict, changes: dict[str, object]) -> str:
    scaled = {name: None for name in address if name.partition("~")[0] in changes and "~" in name}
    return write(address, **scaled, **changes)


def _in_address(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() else value

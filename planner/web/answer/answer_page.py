"""A comparison as the answer page shows it: verdict, scenarios, charts and tables of one answer.

Works on the answer alone, so that a fresh one and a saved one look the same.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property

from django.http import QueryDict

from planner.contract.answer.break_even import BreakEvenRow
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.demand import DemandAnswer
from planner.contract.answer.relaxation import Relaxation, least_changes
from planner.contract.answer.verdict import Alternative, Verdict
from planner.contract.labels import SCENARIO_TITLES, comes_first
from planner.web.answer import charts, hours_chart, tables
from planner.web.answer.assumption_rows import (
    AssumptionRow,
    DefaultRow,
    default_rows,
    kept_address,
    list_assumption_rows,
)
from planner.web.answer.drivers import Driver, list_drivers
from planner.web.answer.figure_rows import FigureRow, figure_rows
from planner.web.answer.finance_facts import list_returns
from planner.web.answer.payback_chart import payback
from planner.web.answer.place_names import with_place
from planner.web.answer.plan_rows import plan_rows
from planner.web.answer.scenario_rows import ScenarioRow, scenario_rows
from planner.web.answer.verdict_facts import (
    ShownPart,
    assumed,
    beside_parts,
    by_shown_saving,
    decision_parts,
    saving_words,
    short_title,
)
from planner.web.common.chart import Chart
from planner.web.common.choices import server_title
from planner.web.common.coverage_table import CoverageTable, arrange_coverage
from planner.web.common.form_fields import with_labels
from planner.web.common.formatting import plain
from planner.web.common.query_codec import write


class AnswerPage:
    """What the answer's templates draw. `shown` is the scenario whose plan is laid out."""

    def __init__(
        self, answer: ComparisonAnswer, shown: str = "", query: QueryDict | None = None
    ) -> None:
        self.answer = answer
        self.query = query
        self.currency = answer.currency
        self.recommendation = answer.recommendation
        self.recommended = answer.recommended
        chosen = answer.by_key[ScenarioKey(shown)] if shown in SCENARIO_TITLES else self.recommended
        self.shown = chosen if chosen and chosen.feasible else None
        likely = answer.risk.probability_cheapest if answer.risk else {}
        best = answer.recommendation.scenario
        self.certainty = likely.get(best) if best else None

    @property
    def total(self) -> Decimal | None:
        """What the advised plan costs in all; None where there is none."""
        return self.recommended.total_cost if self.recommended else None

    @property
    def title(self) -> str:
        """The name of the plan, else what to do and when."""
        return self.answer.name or short_title(self.answer)

    @property
    def first_warnings(self) -> list[str]:
        """Those that have to be seen before the advice is."""
        return [*map(with_labels, filter(comes_first, self.answer.warnings))]

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        return with_labels(self.answer.headline)

    @property
    def verdict(self) -> Verdict | None:
        """The typed advice; None in answers of old."""
        return self.answer.verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why; of an answer of old everything that was said for it."""
        return tuple(map(with_labels, (self.verdict or self.recommendation).reasons))

    @property
    def money_sentence(self) -> str:
        """What the advice costs, without what it is."""
        if self.verdict is None:
            return ""
        return with_labels(self.verdict.sentence.removeprefix(self.verdict.headline).strip())

    @property
    def decision(self) -> list[ShownPart]:
        """What to do, by money."""
        return decision_parts(self.answer)

    @property
    def beside_parts(self) -> tuple[int, str] | None:
        """What the total holds beside the parts of the decision, and what it is for."""
        return beside_parts(self.answer)

    @cached_property
    def alternatives(self) -> list[tuple[Alternative, str, str]]:
        """What would be cheaper with one rule lifted, the address that lifts it, empty where the
        answer is a kept one, and what it saves."""
        address = self.query or QueryDict()
        return [
            (
                one,
                _lift(address, one) if self.query else "",
                saving_words(one, self.answer),
            )
            for one in by_shown_saving(self.answer)
        ]

    @cached_property
    def loosenings(self) -> list[tuple[str, str]]:
        """Where nothing is feasible: what would do, each with the address that asks for it, empty
        where the answer is a kept one. Limits that must change together are one."""
        needed = () if self.recommended else least_changes(self.answer.by_key)
        groups = [[one] for one in needed if one.is_sufficient]
        together = [one for one in needed if not one.is_sufficient]
        return [
            (" and ".join(one.change for one in group), self._asking_for(group))
            for group in [*groups, *([together] if together else [])]
        ]

    def _asking_for(self, relaxations: list[Relaxation]) -> str:
        if self.query is None:
            return ""
        return _change(
            self.query, {one.field: _in_address(one.required_value) for one in relaxations}
        )

    @cached_property
    def rows(self) -> list[ScenarioRow]:
        """The scenarios, those with the same plan in one row."""
        return scenario_rows(self.answer)

    @property
    def possible(self) -> list[ScenarioRow]:
        """Rows that have a plan."""
        return [row for row in self.rows if row.scenario.feasible]

    @property
    def is_small(self) -> bool:
        """Whether the work is too small for more than the verdict and one table."""
        return self.verdict is not None and self.verdict.is_small

    @property
    def is_short(self) -> bool:
        """Whether there is nothing to unfold but figures: no plan, or too small a job."""
        return self.is_small or self.shown is None

    @cached_property
    def first_chart(self) -> Chart | None:
        """What the advised plan and its rivals have cost so far."""
        return None if self.is_short else payback(self.answer)

    @cached_property
    def reason_charts(self) -> list[Chart]:
        """What moves the total, and from which use on owning is the cheaper."""
        if self.is_short or self.recommended is None:
            return []
        total = self.recommended.require_total()
        return _drawn(charts.tornado(self.answer, total), hours_chart.hours_curve(self.answer))

    @cached_property
    def time_charts(self) -> list[Chart]:
        """What serves the demand of each month, and what the money is spent on."""
        if self.is_short or self.shown is None:
            return []
        return _drawn(charts.capacity(self.answer, self.shown), charts.categories(self.answer))

    @cached_property
    def number_charts(self) -> list[Chart]:
        return [] if self.is_short else _drawn(charts.fan(self.answer))

    @property
    def charts(self) -> list[Chart]:
        """Every chart of the page, in its order."""
        first = _drawn(self.first_chart)
        return [*first, *self.reason_charts, *self.time_charts, *self.number_charts]

    @property
    def figure_rows(self) -> list[FigureRow]:
        """The figures beside the decision."""
        return figure_rows(self.answer)

    @property
    def assumed(self) -> str:
        """What the plan keeps to though nobody asked for it."""
        return assumed(self.answer)

    @cached_property
    def purchases(self) -> list[tables.PurchaseRow]:
        """What the shown plan buys, when and for how much."""
        return tables.purchase_rows(self.answer, self.shown) if self.shown else []

    @cached_property
    def sources(self) -> list[tables.SourceRow]:
        """Offers and servers behind the shown plan, the dearest first."""
        return tables.source_rows(self.answer, self.shown) if self.shown else []

    @property
    def returns(self) -> list[tuple[str, str]]:
        """What buying or leasing returns, against the best plan that does neither."""
        return list_returns(self.shown.finance, self.currency) if self.shown else []

    @cached_property
    def risk_rows(self) -> list[ScenarioRow]:
        """The plans that were simulated."""
        return [row for row in self.rows if row.range is not None]

    @cached_property
    def energy(self) -> list[tables.EnergyRow]:
        return tables.energy_rows(self.possible)

    @cached_property
    def grid(self) -> tables.Grid | None:
        return tables.price_grid(self.answer)

    @property
    def default_effects(self) -> list[DefaultRow]:
        """Who gains by each default."""
        return default_rows(self.answer)

    @property
    def limits_and_switches(self) -> tuple[str, ...]:
        """What each limit costs, and where the recommendation changes."""
        explanation = self.answer.explanation
        return explanation.limits_and_switches if explanation else ()

    @property
    def asks_to_explain(self) -> bool:
        return bool(self.query and self.query.get("explain"))

    @property
    def demand(self) -> DemandAnswer:
        """Hours of the whole plan with their range, and the highest peak."""
        return self.answer.demand

    @property
    def peak(self) -> str:
        """Most accelerators at once, to a tenth: `3.3 accelerators`."""
        most = round(self.demand.highest_peak, 1)
        return f"{plain(most)} {'accelerator' if most == 1 else 'accelerators'}"

    @property
    def counts_in_reference(self) -> bool:
        """Whether hours are those of an accelerator that only serves to count them: the advised
        plan uses another."""
        used = {self.answer.offers[one].accelerator for one in self._rented}
        return bool(used) and self.demand.accelerator not in used

    @property
    def _rented(self) -> list[str]:
        paid = self.recommended.costs_by_source if self.recommended else ()
        return [row.source for row in paid if row.source in self.answer.offers]

    @property
    def break_even(self) -> list[tuple[str, str, BreakEvenRow]]:
        """When each server pays for itself: its name, what it stands against, and the figures."""
        named = self.answer.labels
        return [
            (
                named.get(f"server:{row.server}") or server_title(row.server),
                with_place(row.against, row.label, self.answer.region_names),
                row,
            )
            for row in self.answer.break_even
        ]

    @cached_property
    def assumptions(self) -> list[AssumptionRow]:
        """Every assumption with the field that changes it."""
        return list_assumption_rows(self.answer)

    @cached_property
    def boxes(self) -> list[AssumptionRow]:
        """What the plan was asked and every assumption, each with the box that changes it."""
        return [*plan_rows(self.answer, self.query), *self.assumptions]

    @property
    def given_boxes(self) -> str:
        """Elements of the boxes whose value is given, for scripts: `a-on-prem-pue a-start`."""
        return " ".join(row.element for row in self.boxes if row.name and row.given)

    @cached_property
    def drivers(self) -> list[Driver]:
        """What moves the total most, to be changed in place; none of a saved answer."""
        return list_drivers(self.answer, self.assumptions, self.query) if self.query else []

    @property
    def kept_address(self) -> list[tuple[str, str]]:
        """Names and values of the address that the assumption rows do not hold themselves."""
        return kept_address(self.query or QueryDict(), self.boxes)

    @cached_property
    def coverage(self) -> CoverageTable:
        """What is known of the prices that the request asks for."""
        return arrange_coverage(self.answer.coverage)

    @cached_property
    def warnings(self) -> list[str]:
        """Those of the answer, then those of the shown plan, each once."""
        sentences = self.answer.warnings + (self.shown.warnings if self.shown else ())
        return list(dict.fromkeys(map(with_labels, sentences)))


def _drawn(*possible: Chart | None) -> list[Chart]:
    return [chart for chart in possible if chart is not None]


def _lift(address: QueryDict, one: Alternative) -> str:
    """An address with the fields at the values that lift them; a limit that is left out is taken
    out with all its parts and units."""
    field, value = one.field, one.value
    if value is not None and value != ():
        changes = {field: value, **{other.field: other.value for other in one.together_with}}
        return _change(address, {name: _in_address(to) for name, to in changes.items()})
    parts = (f"{field}.", f"{field}~")
    return write(address, **{n: None for n in address if n == field or n.startswith(parts)})


def _change(address: QueryDict, changes: dict[str, object]) -> str:
    """An address with some fields at other values, whatever unit they stand in there."""
    scaled = {name: None for name in address if name.partition("~")[0] in changes and "~" in name}
    return write(address, **scaled, **changes)


def _in_address(value: object) -> object:
    """A value as an address writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() else value

"""An answer to a comparison in a notebook: the typed answer, its tables, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.table import Table
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.verdict import Recommendation, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Comparison:
    """`answer` is the whole answer, typed; the tables of it are frames by `.to_frame()`."""

    answer: ComparisonAnswer

    @property
    def verdict(self) -> Verdict | None:
        """What to do, in the order of money, and how sure it is."""
        return self.answer.verdict

    @property
    def recommendation(self) -> Recommendation:
        """Which scenario is advised, and what it saves."""
        return self.answer.recommendation

    @property
    def recommended(self) -> ScenarioAnswer | None:
        """The scenario that is advised; None where no plan is feasible."""
        return self.answer.recommended

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know about the answer."""
        return self.answer.warnings

    @property
    def scenarios(self) -> Table:
        """A row for each way to buy: totals, proven gap, whether it is advised."""
        return self._table("scenarios")

    @property
    def lines(self) -> Table:
        """A row for each cost line of each feasible scenario; `amount` sums to the total."""
        return self._table("lines")

    @property
    def capacity(self) -> Table:
        """A row for each scenario, month and source: hours available and used."""
        return self._table("capacity")

    @property
    def purchases(self) -> Table:
        """A row for each purchase of each feasible scenario."""
        return self._table("purchases")

    @property
    def break_even(self) -> Table:
        """A row for each server against a way to rent."""
        return self._table("break_even")

    @property
    def assumptions(self) -> Table:
        """A row for each figure that the answer rests on, with its source."""
        return self._table("assumptions")

    @property
    def tornado(self) -> Table:
        """A row for each figure at its low and its high value."""
        return self._table("tornado")

    @property
    def risk(self) -> Table:
        """A row for each feasible scenario over the simulated outcomes."""
        return self._table("risk")

    @property
    def fiscal_years(self) -> Table:
        """A row for each fiscal year of each feasible scenario: cash, capital, cost as booked."""
        return self._table("fiscal_years")

    @property
    def advice(self) -> Table:
        """One row: what to approve, to sign and to owe, payback and range."""
        return self._table("verdict")

    def plot_scenarios(self) -> Axes:
        """The total of each scenario as a bar; needs matplotlib."""
        from gpu_cost_planner import plots

        return plots.plot_scenarios(self.answer)

    def plot_cash(self) -> Axes:
        """What each scenario has cost up to each month; needs matplotlib."""
        from gpu_cost_planner import plots

        return plots.plot_cash(self.answer)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values, the same as the API's."""
        return self.answer.to_json()

    def __str__(self) -> str:
        from planner.commands.tables import comparison_tables

        return comparison_tables(self.answer)

    def __repr__(self) -> str:
        return f"<Comparison: {' '.join(self.answer.advice[:1])}>"

    def _repr_html_(self) -> str:
        first, *others = self.answer.advice or ("",)
        parts = [f"<p><strong>{escape(first)}</strong></p>"]
        parts += [f"<p>{escape(text)}</p>" for text in others]
        parts.append(_scenarios_html(self.answer))
        parts += [f"<p>Note: {escape(text)}</p>" for text in self.warnings]
        return "\n".join(parts)

    def _table(self, name: str) -> Table:
        return Table(name, partial(_build, name, self.answer))


def _build(name: str, answer: ComparisonAnswer) -> pd.DataFrame:
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES

    build: Callable[[ComparisonAnswer], pd.DataFrame] = FRAMES[name]
    return build(answer)


def _scenarios_html(answer: ComparisonAnswer) -> str:
    """The scenarios as a small table, the advised one marked; without pandas."""
    from planner.contract.labels import SCENARIO_TITLES

    rows = []
    for one in answer.scenarios:
        total = f"{one.require_total():,.0f}" if one.feasible else "not feasible"
        name = escape(SCENARIO_TITLES[one.key])
        if one.key == answer.recommendation.scenario:
            name = f"<strong>{name}</strong>"
        rows.append(f'<tr><td>{name}</td><td style="text-align:right">{total}</td></tr>')
    head = f"<tr><th>scenario</th><th>total, {escape(answer.currency)}</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"

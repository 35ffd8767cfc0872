"""An answer to a comparison in a notebook: the typed answer, its tables, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.offer_search import search_offers
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer, ProjectShare
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.verdict import Recommendation, Verdict
from planner.contract.labels import SCENARIO_TITLES
from planner.sizing.estimate import Estimate
from pricing.market.offer_rows import OfferRow, offer_json
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """One table; pandas is imported when it is first looked at."""

    name: str
    _build: Callable[[], pd.DataFrame]

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """The table as a frame; money is `float64`, or `Decimal` with `exact=True`."""
        from planner.exports.frames import convert_money

        return self._build() if exact else convert_money(self._build())

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV with exact amounts, written to `path` where one is given."""
        from planner.exports.frames import format_csv

        text = format_csv(self._build())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __len__(self) -> int:
        return len(self._build())

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows; .to_frame() is a pandas frame>"

    def _repr_html_(self) -> str:
        html: str = self._build().to_html(max_rows=20, border=0)
        return html


class AnswerTable(property):
    """A table of an answer, as an attribute of what holds the answer, with what `help` says of
    its rows."""

    def __init__(self, name: str, rows: str) -> None:
        super().__init__()
        self._name, self.__doc__ = name, rows

    def __get__(self, holder: Any, _owner: Any = None) -> Table:  # type: ignore[override]
        return Table(self._name, partial(_build, self._name, holder.answer))


def _build(name: str, answer: ComparisonAnswer | PortfolioAnswer) -> pd.DataFrame:
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES, build_frame
    from planner.exports.portfolio_exports import TABLE_MODELS

    if isinstance(answer, ComparisonAnswer):
        return FRAMES[name](answer)
    model, field = TABLE_MODELS[name]
    return build_frame(model, getattr(answer, field), answer)


@dataclass(frozen=True)
class Comparison:
    """`answer` is the whole answer, typed; the tables of it are frames by `.to_frame()`."""

    answer: ComparisonAnswer

    @property
    def verdict(self) -> Verdict:
        """What to do, in the order of money, and how sure it is."""
        assert self.answer.verdict is not None, "every new answer has one"
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

    scenarios = AnswerTable(
        "scenarios", "A row for each way to buy: totals, proven gap, whether it is advised."
    )
    lines = AnswerTable(
        "lines", "A row for each cost line of each feasible scenario; `amount` sums to the total."
    )
    capacity = AnswerTable(
        "capacity", "A row for each scenario, month and source: hours available and used."
    )
    purchases = AnswerTable("purchases", "A row for each purchase of each feasible scenario.")
    break_even = AnswerTable("break_even", "A row for each server against a way to rent.")
    assumptions = AnswerTable(
        "assumptions", "A row for each figure that the answer rests on, with its source."
    )
    drivers = AnswerTable("drivers", "A row for each figure at its low and its high value.")
    risk = AnswerTable("risk", "A row for each feasible scenario over the simulated outcomes.")
    fiscal_years = AnswerTable(
        "fiscal_years",
        "A row for each fiscal year of each feasible scenario: cash, capital, cost as booked.",
    )
    advice = AnswerTable(
        "verdict", "One row: what to approve, to sign and to owe, payback and range."
    )

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
        rows = []
        for one in self.answer.scenarios:
            total = f"{one.require_total():,.0f}" if one.feasible else "not feasible"
            name = escape(SCENARIO_TITLES[one.key])
            if one.key == self.answer.recommendation.scenario:
                name = f"<strong>{name}</strong>"
            rows.append(f'<tr><td>{name}</td><td style="text-align:right">{total}</td></tr>')
        head = f"<tr><th>scenario</th><th>total, {escape(self.answer.currency)}</th></tr>"
        parts.append(f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>")
        parts += [f"<p>Note: {escape(text)}</p>" for text in self.warnings]
        return "\n".join(parts)


@dataclass(frozen=True)
class Estimated:
    """A workload sized on one accelerator, and every other beside it."""

    estimate: Estimate

    @property
    def answer(self) -> EstimateAnswer:
        """The whole answer, typed; the same as the API's."""
        return self.estimate.answer

    @property
    def candidates(self) -> Table:
        """A row for each accelerator, best first, then those that cannot do the work."""

        def build() -> pd.DataFrame:
            from planner.exports.frames import candidates_frame

            return candidates_frame(self.answer)

        return Table("candidates", build)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values, the same as the API's."""
        return self.answer.to_json()

    def __str__(self) -> str:
        from planner.commands.tables import estimate_tables

        return estimate_tables(self.estimate)

    def __repr__(self) -> str:
        answer = self.answer
        hours = f"{answer.accelerator_hours.p50:,.0f} accelerator-hours"
        return f"<Estimate: {hours} on {answer.accelerators:,} × {answer.accelerator}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Portfolio:
    """`answer` is the whole answer, typed; the tables of it are frames by `.to_frame()`."""

    answer: PortfolioAnswer

    @property
    def headline(self) -> str:
        """What to do, what it costs, what it saves."""
        return self.answer.headline

    @property
    def shares(self) -> tuple[ProjectShare, ...]:
        """What each project pays, and why."""
        return self.answer.projects

    projects = AnswerTable("projects", "A row for each project: alone, share, saving.")
    purchases = AnswerTable("purchases", "A row for each purchase and commitment.")
    machines = AnswerTable(
        "machines", "A row for each month and machine held: hours available and used."
    )
    uses = AnswerTable("uses", "A row for each month, project and machine: hours used.")
    rates = AnswerTable(
        "rates",
        "A row for each project and way of obtaining machines: what an accelerator-hour costs it.",
    )
    card = AnswerTable(
        "card", "A row for each year and machine: what to charge for an accelerator-hour."
    )
    lines = AnswerTable("lines", "A row for each cost line; `amount` sums to the total.")

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values, the same as the API's."""
        return self.answer.to_json()

    def __str__(self) -> str:
        from planner.commands.tables import portfolio_tables

        return portfolio_tables(self.answer)

    def __repr__(self) -> str:
        return f"<Portfolio: {self.headline}>"

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{escape(one.name)}</td><td>{escape(one.explanation)}</td></tr>"
            for one in self.shares
        ]
        return (
            f"<p><strong>{escape(self.headline)}</strong></p>"
            f"<table><thead><tr><th>project</th><th>what it pays</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )


@dataclass(frozen=True)
class OfferList:
    """Some offers of a catalog in order of price; iterate for the offers themselves."""

    catalog: Catalog
    rows: tuple[int, ...]
    """Rows of the catalog's table."""
    count: int
    """Offers that meet the filters, with those beyond `limit`."""

    def to_json(self) -> list[OfferRow]:
        """Each offer with the fields that the API gives, money as decimal text."""
        revisions = {info.provider: info.revision for info in self.catalog.revisions}
        return [offer_json(self.catalog, row, revisions) for row in self.rows]

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """A row for each offer; money is `float64`, or `Decimal` with `exact=True`."""
        return self._table.to_frame(exact=exact)

    def to_csv(self) -> str:
        """The offers as CSV with exact amounts."""
        return self._table.to_csv()

    def __iter__(self) -> Iterator[Offer]:
        return (self.catalog.offers.offer(row) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.count} offers; .to_frame() is a pandas frame>"

    def _repr_html_(self) -> str:
        return self._table._repr_html_()

    @property
    def _table(self) -> Table:
        return Table("offers", self._build)

    def _build(self) -> pd.DataFrame:
        from planner.exports.frames import offers_frame

        return offers_frame(self.to_json())


def find_offers(
    catalog: Catalog,
    names: Mapping[str, str | Sequence[str]],
    *,
    limit: int | None = None,
    **limits: Any,
) -> OfferList:
    """The offers of `catalog` that meet every filter (`pricing.market.offer_filters`)."""
    rows, count = search_offers(catalog, names, limit=limit, **limits)
    return OfferList(catalog, rows, count)

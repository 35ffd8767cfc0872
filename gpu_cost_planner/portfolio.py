"""An answer to a portfolio in a notebook: the typed answer, its tables, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.table import Table
from planner.contract.answer.portfolio import PortfolioAnswer, ProjectShare

if TYPE_CHECKING:
    import pandas as pd


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

    @property
    def projects(self) -> Table:
        """A row for each project: alone, share, saving."""
        return self._table("projects")

    @property
    def purchases(self) -> Table:
        """A row for each purchase and commitment."""
        return self._table("purchases")

    @property
    def machines(self) -> Table:
        """A row for each month and machine held: hours available and used."""
        return self._table("machines")

    @property
    def uses(self) -> Table:
        """A row for each month, project and machine: hours used."""
        return self._table("uses")

    @property
    def kinds(self) -> Table:
        """A row for each project and kind of machine: what it uses of it over the plan."""
        return self._table("kinds")

    @property
    def lines(self) -> Table:
        """A row for each cost line; `amount` sums to the total."""
        return self._table("lines")

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values, the same as the API's."""
        return self.answer.to_json()

    def __str__(self) -> str:
        from planner.commands.portfolio_tables import portfolio_tables

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

    def _table(self, name: str) -> Table:
        return Table(name, lambda: _build(self.answer, name))


def _build(answer: PortfolioAnswer, name: str) -> pd.DataFrame:
    # pandas takes longer to import than a small portfolio takes to plan.
    from planner.exports.frames import build_frame
    from planner.exports.portfolio_csv import TABLE_MODELS

    model, field = TABLE_MODELS[name]
    return build_frame(model, getattr(answer, field), answer)

"""An estimate in a notebook: the typed answer, the ranking as a table, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.table import Table
from planner.contract.answer.estimate import EstimateAnswer
from planner.sizing.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


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
        return Table("candidates", self._candidates)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values, the same as the API's."""
        return self.answer.to_json()

    def __str__(self) -> str:
        from planner.commands.sizing_tables import estimate_tables

        return estimate_tables(self.estimate)

    def __repr__(self) -> str:
        answer = self.answer
        hours = f"{answer.accelerator_hours.p50:,.0f} accelerator-hours"
        return f"<Estimate: {hours} on {answer.accelerators:,} × {answer.accelerator}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _candidates(self) -> pd.DataFrame:
        from planner.exports.frames import candidates_frame

        return candidates_frame(self.answer)

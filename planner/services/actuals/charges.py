"""What projects are charged at the rate card of a joint plan, against what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.models import Project, Team
from planner.services.actuals.actuals import variance

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Charge:
    """One project: its metered hours at the rates of their years, and its bills."""

    project: str
    accelerator_hours: float
    charged: Decimal
    paid: Decimal

    @property
    def difference(self) -> Decimal:
        """What the rates bring in beyond the bills; below 0 where they fall short."""
        return self.charged - self.paid

    @property
    def paid_per_hour(self) -> Decimal:
        return self.paid / Decimal(self.accelerator_hours)


def list_charges(team: Team, answer: PortfolioAnswer) -> list[Charge]:
    """The projects of the plan, by name, with uploads that say hours; then all of them together.
    Only what was paid in the currency of the plan, in its years, counts."""
    rates = {one.year or 0: one.cost_per_hour for one in answer.rate_card if one.kind == "all"}
    names = {one.name for one in answer.projects}
    rows = [
        row
        for project in Project.objects.filter(team=team, name__in=names).select_related("team")
        if (row := _charge(project, answer.currency, rates)) is not None
    ]
    rows.sort(key=lambda row: row.project)
    if len(rows) > 1:
        sums = (sum(row.charged for row in rows), sum(row.paid for row in rows))
        hours = sum(row.accelerator_hours for row in rows)
        rows.append(Charge("All", hours, *(Decimal(amount) for amount in sums)))
    return rows


def _charge(project: Project, currency: str, rates: dict[int, float | None]) -> Charge | None:
    table, hours, charged, paid = variance(project), 0.0, 0.0, Decimal(0)
    for (month, _), cell in table.cells.items() if table.currency == currency else ():
        rate = rates.get(int(month[:4]))
        if rate is not None:
            hours += cell.actual_hours
            charged += cell.actual_hours * rate
            paid += cell.actual
    hours = round(hours, 4)
    if not hours:
        return None
    return Charge(project.name, hours, Decimal(charged).quantize(CENT), paid)

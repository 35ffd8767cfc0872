"""One figure that an answer rests on, and those of an earlier answer. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.comparison import AssumptionRow


@dataclass(frozen=True)
class Assumption:
    """One row of the answer's `assumptions`."""

    field: str
    """Dotted path in the request."""
    value: float | str | Decimal
    unit: str
    given: bool
    source: str

    @property
    def name(self) -> str:
        """Last part of its field: its name among the values.

        >>> Assumption("on_prem.pue", 1.5, "ratio", False, "x").name
        'pue'
        """
        return self.field.rpartition(".")[2]


PreviousAssumptions = Mapping[str, Assumption]
"""By field, the assumptions of an earlier answer that nobody gave."""


def read_previous_assumptions(rows: Iterable[AssumptionRow]) -> PreviousAssumptions:
    """The assumptions of an earlier answer that nobody gave, by field.

    >>> row = AssumptionRow(field="on_prem.pue", value=1.5, unit="ratio", given=False, source="x")
    >>> read_previous_assumptions([row])["on_prem.pue"].value
    1.5
    """
    return {
        row.field: Assumption(
            row.field,
            Decimal(row.value) if isinstance(row.value, str) else row.value,
            row.unit,
            False,
            row.source,
        )
        for row in rows
        if not row.given and row.value is not None and _is_amount(row.value)
    }


def _is_amount(value: object) -> bool:
    """Whether it is a number, as number or as the text that stands for money."""
    return isinstance(value, int | float) or str(value).replace(".", "", 1).isdigit()

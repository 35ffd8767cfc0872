"""What a sweep keeps of each answer: the advice, its figures, and every scenario's total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer

if TYPE_CHECKING:
    import pandas as pd

_FIGURES = (
    *("total_cost", "within_horizon", "owed_after", "net_present_cost"),
    "levelised_cost_per_accelerator_hour",
)
"""Of the advised scenario."""
_VERDICT = ("capital_to_approve", "obligation_to_sign")
_TOTALS = tuple(f"total_{key.value}" for key in ScenarioKey)
_MONEY = (*_FIGURES, "saving", *_VERDICT, *_TOTALS)
COLUMNS = ("recommended", *_MONEY, "payback", "confidence", "headline", "currency", "refused")
"""Columns of a sweep after those of the grid."""


def summarize(answer: ComparisonAnswer) -> dict[str, Any]:
    """The row of an answer as plain JSON values; null where a figure has no meaning."""
    best = answer.recommendation
    advised = next((one for one in answer.scenarios if one.key == best.scenario), None)
    verdict = answer.verdict
    totals = {one.key: one.total_cost for one in answer.scenarios}
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {name: _text(getattr(advised, name, None)) for name in _FIGURES}
    row |= {name: _text(getattr(verdict, name, None)) for name in _VERDICT}
    row |= {f"total_{key.value}": _text(totals.get(key)) for key in ScenarioKey}
    return row | {
        "recommended": best.scenario.value if best.scenario else None,
        "saving": _text(best.saving) if best.scenario else None,
        "payback": verdict.payback if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "headline": verdict.headline if verdict else best.headline,
        "currency": answer.currency,
    }


def refuse(reason: str) -> dict[str, Any]:
    """The row of a request that was refused."""
    return {**dict.fromkeys(COLUMNS), "refused": reason}


def build_frame(
    values: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]], *, floats: bool
) -> pd.DataFrame:
    """A row for each combination: its values, then `COLUMNS`; money exact unless `floats`."""
    import pandas as pd

    table, given_values = list(rows), list(values)
    fields = list(given_values[0]) if given_values else []
    columns: dict[str, Any] = {name: [one[name] for one in given_values] for name in fields}
    for name in COLUMNS:
        cells = [row[name] for row in table]
        if name in _MONEY:
            exact = [None if cell is None else Decimal(cell) for cell in cells]
            columns[name] = pd.Series(exact, dtype="float64" if floats else "object")
        elif name == "confidence":
            columns[name] = pd.Series(cells, dtype="float64")
        elif name == "recommended":
            columns[name] = pd.Categorical(cells, [key.value for key in ScenarioKey])
        else:
            columns[name] = pd.Series(cells, dtype="str")
    return pd.DataFrame(columns)


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"

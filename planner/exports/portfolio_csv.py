"""The tables of a portfolio's answer as CSV: projects, purchases, machines, uses, cost lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.contract.answer.common import AnswerModel
from planner.contract.answer.portfolio import (
    KindUse,
    MonthOfMachines,
    PortfolioAnswer,
    PortfolioLine,
    ProjectShare,
    ProjectUse,
)
from planner.contract.answer.scenario import Purchase
from planner.contract.months import format_month
from planner.exports.csv_export import csv_bytes

TABLE_MODELS: Mapping[str, tuple[type[AnswerModel], str]] = {
    "projects": (ProjectShare, "projects"),
    "purchases": (Purchase, "purchases"),
    "machines": (MonthOfMachines, "in_service"),
    "uses": (ProjectUse, "uses"),
    "kinds": (KindUse, "uses_by_kind"),
    "lines": (PortfolioLine, "lines"),
}
"""Table → the model of its rows, and the field of the answer that holds them."""
PORTFOLIO_TABLES = tuple(TABLE_MODELS)
"""Names of the tables."""
_MONTHS = frozenset({"month", "first", "last"})
_LABELLED = frozenset({"machines", "uses"})


def portfolio_csv(answer: PortfolioAnswer, table: str, *, mark: bool = False) -> bytes:
    """One table; `mark` begins it as spreadsheets expect it."""
    model, field = TABLE_MODELS[table]
    columns = [*model.model_fields, *(["label"] if table in _LABELLED else []), "currency"]
    return csv_bytes(columns, _rows(answer, getattr(answer, field)), mark=mark)


def _rows(answer: PortfolioAnswer, parts: Sequence[AnswerModel]) -> Iterable[Mapping[str, Any]]:
    for part in parts:
        cells = {name: written(answer, name, value) for name, value in part.__dict__.items()}
        cells.setdefault("label", answer.labels.get(cells.get("source", ""), ""))
        yield {**cells, "currency": answer.currency}


def written(answer: PortfolioAnswer, name: str, value: Any) -> Any:
    """What a table says of a field: months of the answer as `2027-01`, several in one cell."""
    if name in _MONTHS and value is not None:
        return format_month(answer.month(value))
    if isinstance(value, tuple):
        return " ".join(format_month(answer.month(month)) for month in value)
    return value

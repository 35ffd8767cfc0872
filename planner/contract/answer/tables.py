"""Which fields of an answer are tables, that callers of the API include by name. PURE."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from planner.contract.answer.common import AnswerModel
from planner.contract.validation import models_in
from pricing.common.invalid_input import InvalidInput

ALL = "all"
"""Includes every table."""
LeftOut = dict[str, Any]
"""Field → True, or what is left out of each of its rows; as pydantic reads `exclude`."""


def table_names(model: type[AnswerModel]) -> tuple[str, ...]:
    """Every name that `include` may give for an answer of this kind.

    >>> from planner.contract.answer.estimate import EstimateAnswer
    >>> table_names(EstimateAnswer)[:2]
    ('candidates', 'chips')
    """
    nested = (name for part in parts_with_tables(model).values() for name in part.tables)
    return (*model.tables, *nested)


def read_include(
    names: Collection[str], *models: type[AnswerModel], beside: Collection[str] = ()
) -> frozenset[str]:
    """The tables that these names include, of any of the models or `beside` them. Raises
    `InvalidInput`."""
    tables = (name for model in models for name in table_names(model))
    known = tuple(dict.fromkeys((*tables, *beside)))
    for name in names:
        if name not in (*known, ALL):
            allowed = ", ".join((*known, ALL))
            raise InvalidInput("include", f"{name[:60]!r} is unknown; allowed are {allowed}")
    return frozenset(known if ALL in names else names)


def leave_out(model: type[AnswerModel], include: Collection[str]) -> LeftOut:
    """The tables of an answer that are not included.

    >>> from planner.contract.answer.comparison import ComparisonAnswer
    >>> leave_out(ComparisonAnswer, {"lines"})["scenarios"]["__all__"]["capacity"]
    True
    """
    rows = {
        name: {"__all__": leave_out(part, include)}
        for name, part in parts_with_tables(model).items()
    }
    return {name: True for name in model.tables if name not in include} | rows


def drop(values: Mapping[str, Any], left_out: LeftOut) -> dict[str, Any]:
    """Plain values of an answer without what is left out.

    >>> drop({"a": 1, "b": [{"c": 2, "d": 3}]}, {"a": True, "b": {"__all__": {"c": True}}})
    {'b': [{'d': 3}]}
    """
    return {
        name: [drop(row, left_out[name]["__all__"]) for row in value] if name in left_out else value
        for name, value in values.items()
        if left_out.get(name) is not True
    }


def parts_with_tables(model: type[AnswerModel]) -> dict[str, type[AnswerModel]]:
    """Lists of an answer whose rows have tables of their own."""
    return {
        name: part
        for name, field in model.model_fields.items()
        for part in models_in(field.annotation)
        if issubclass(part, AnswerModel) and part.tables
    }

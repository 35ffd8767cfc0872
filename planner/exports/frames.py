"""The tables of an answer as pandas frames, for notebooks and `gpu-cost-planner compare --table`.

The columns of a frame are the fields of the answer's own model (reference: Answer) that hold one
value. Their types follow from the field's:

| field | dtype |
|---|---|
| money, prices | `object` of `Decimal`, exact; `convert_money` makes it `float64` |
| month of the plan | `period[M]` |
| scenario, category, other fixed sets | `category` |
| figure | `float64`, NaN for null; whole number `int64`, `Int64` where it may be null |
| day | `datetime64[s]` |
| yes or no | `bool` |
| text | `str` |

Frames with money have a column `currency`. pandas takes longer to import than a comparison takes
to compute, so nothing that answers imports this module.
"""

from __future__ import annotations

import datetime as dt
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from planner.contract.answer.common import AnswerModel, MonthIndex, ScenarioKey
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer, EstimateCandidate
from planner.contract.answer.portfolio import PortfolioAnswer, ProjectShare
from planner.contract.answer.risk import BreakEvenRow, CostRange, Driver
from planner.contract.answer.scenario import (
    CapacityRow,
    CostLine,
    FiscalYearFinance,
    Purchase,
    ScenarioAnswer,
)
from planner.contract.answer.verdict import Verdict
from planner.contract.labels import join_reasons
from planner.exports.csv_export import text_cell
from pricing.market.offer_rows import Money, OfferRow

MONEY = "object"
MONTH = "period[M]"
DAY = "datetime64[s]"
Dtype = str | pd.CategoricalDtype
_OFFER_CATEGORIES = frozenset(
    {"provider", "region", "accelerator", "purchase_option", "payment_option", "currency"}
)
_MONTH_UNIT = get_args(MonthIndex)[1].json_schema_extra
_SCENARIO = pd.CategoricalDtype([key.value for key in ScenarioKey])


# The frames ---------------------------------------------------------------------------------


def scenarios_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """A row for each scenario: totals, proven gap, whether it is the recommended one.

    Figures are null where `feasible` is false.
    """
    frame = build_frame(ScenarioAnswer, answer.scenarios, answer).rename(
        columns={"key": "scenario"}
    )
    frame["recommended"] = frame["scenario"] == answer.recommendation.scenario
    frame["why_not"] = pd.Series([join_reasons(s.why_not) for s in answer.scenarios], dtype="str")
    return frame


def lines_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """A row for each cost line of each feasible scenario; `amount` sums to the total."""
    return _build_by_scenario(CostLine, answer, lambda scenario: scenario.lines)


def capacity_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """A row for each scenario, month and source: accelerators, hours available and used."""
    frame = _build_by_scenario(CapacityRow, answer, lambda scenario: scenario.capacity)
    frame["label"] = frame["source"].map(dict(answer.labels)).astype("str")
    return frame


def assumptions_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """A row for each assumption: `value` as the answer has it, `number` as `float64`.

    `number` is NaN where the value is no number.
    """
    frame = build_frame(AssumptionRow, answer.assumptions, answer)
    frame["number"] = pd.to_numeric(frame["value"], errors="coerce").astype("float64")
    return frame


def risk_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """A row for each feasible scenario over the simulated outcomes; none without `risk`."""
    risk = answer.risk
    ranges = {key: risk.range_of(key) for key in ScenarioKey} if risk else {}
    known = {key: cost for key, cost in ranges.items() if cost is not None}
    frame = build_frame(CostRange, list(known.values()), answer)
    frame.insert(0, "scenario", pd.Series(list(known), dtype=_SCENARIO))
    chances = risk.probability_cheapest if risk else {}
    frame["probability_cheapest"] = np.array([chances.get(key, np.nan) for key in known], float)
    return frame


def verdict_frame(answer: ComparisonAnswer) -> pd.DataFrame:
    """One row: what the advised plan asks for and how sure it is; none in older answers.

    `p10` and `p90` bound its total in 8 of 10 simulated outcomes where `range_holds`.
    """
    verdicts = [answer.verdict] if answer.verdict else []
    frame = build_frame(Verdict, verdicts, answer)
    scenario = [answer.recommendation.scenario] * len(verdicts)
    frame.insert(0, "scenario", pd.Series(scenario, dtype=_SCENARIO))
    for name in ("p10", "p90"):
        values = [getattr(one.range, name, None) for one in verdicts]
        frame[name] = pd.Series(values, dtype=MONEY)
    holds = [one.range is not None and one.range.holds for one in verdicts]
    frame["range_holds"] = pd.Series(holds, dtype=bool)
    return frame


FRAMES: Mapping[str, Callable[[ComparisonAnswer], pd.DataFrame]] = {
    "scenarios": scenarios_frame,
    "lines": lines_frame,
    "capacity": capacity_frame,
    "purchases": lambda answer: _build_by_scenario(
        Purchase, answer, lambda scenario: scenario.purchases
    ),
    "fiscal_years": lambda answer: _build_by_scenario(
        FiscalYearFinance,
        answer,
        lambda scenario: scenario.finance.fiscal_years if scenario.finance else (),
    ),
    "break_even": lambda answer: build_frame(BreakEvenRow, answer.break_even, answer),
    "assumptions": assumptions_frame,
    "drivers": lambda answer: build_frame(Driver, answer.drivers, answer),
    "risk": risk_frame,
    "verdict": verdict_frame,
}
"""Every frame by the name of its table."""


def candidates_frame(answer: EstimateAnswer) -> pd.DataFrame:
    """A row for each accelerator of an estimate; figures are null where it cannot do the work."""
    dtypes = _dtypes(EstimateCandidate)
    rows = answer.candidates
    return pd.DataFrame(
        {name: pd.Series([getattr(r, name) for r in rows], dtype=d) for name, d in dtypes.items()}
    )


def offers_frame(offers: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each offer as the API gives it (`pricing.market.offer_rows`)."""
    rows, columns = list(offers), {}
    for name, dtype in _offer_dtypes().items():
        values = [Decimal(row[name]) if dtype == MONEY else row[name] for row in rows]
        columns[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns)


# What to do with them -----------------------------------------------------------------------


def convert_money(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with money as `float64`, for charts and statistics; null becomes NaN.

    A float holds 15 digits, so a sum of cents is exact no longer.
    """
    money = [name for name in frame.columns if name in _money_names()]
    return frame.astype(dict.fromkeys(money, "float64"))


def format_csv(frame: pd.DataFrame) -> str:
    """The frame as CSV: exact amounts without exponent, text that cannot run as a formula."""

    def format_cell(value: Any) -> Any:
        if isinstance(value, Decimal):
            return f"{value:f}"
        if isinstance(value, pd.Timestamp):
            return value.date().isoformat()
        return text_cell(value) if isinstance(value, str) else value

    cells = {name: [format_cell(value) for value in frame[name]] for name in frame.columns}
    return pd.DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n")


# From fields to columns ---------------------------------------------------------------------


def _build_by_scenario(
    model: type[AnswerModel],
    answer: ComparisonAnswer,
    select_rows: Callable[[ScenarioAnswer], Sequence[AnswerModel]],
) -> pd.DataFrame:
    rows = {scenario.key: select_rows(scenario) for scenario in answer.feasible}
    frame = build_frame(model, [row for part in rows.values() for row in part], answer)
    keys = [key.value for key, part in rows.items() for _ in part]
    frame.insert(0, "scenario", pd.Series(keys, dtype=_SCENARIO))
    return frame


def build_frame(
    model: type[AnswerModel],
    rows: Iterable[AnswerModel],
    answer: ComparisonAnswer | PortfolioAnswer,
) -> pd.DataFrame:
    records, dtypes = list(rows), _dtypes(model)
    columns: dict[str, Any] = {}
    for name, dtype in dtypes.items():
        values = [getattr(record, name) for record in records]
        if dtype == MONTH:
            start = pd.PeriodIndex([answer.start], freq="M").repeat(len(values))
            columns[name] = start + np.array(values, dtype="int64")
        else:
            columns[name] = pd.Series(values, dtype=dtype)
    frame = pd.DataFrame(columns)
    if MONEY in dtypes.values() and model is not AssumptionRow:
        frame["currency"] = pd.Categorical([answer.currency] * len(frame), [answer.currency])
    return frame


@cache
def _money_names() -> frozenset[str]:
    models = (
        *(ScenarioAnswer, CostLine, Purchase, BreakEvenRow),
        *(Driver, CostRange, Verdict, FiscalYearFinance, ProjectShare),
    )
    names = {name for model in models for name, dtype in _dtypes(model).items() if dtype == MONEY}
    of_offers = {name for name, dtype in _offer_dtypes().items() if dtype == MONEY}
    return frozenset(names | of_offers)


@cache
def _offer_dtypes() -> dict[str, Dtype | None]:
    return {
        name: MONEY
        if hint == Money
        else ("category" if name in _OFFER_CATEGORIES else _choose_dtype(hint))
        for name, hint in get_type_hints(OfferRow, include_extras=True).items()
    }


@cache
def _dtypes(model: type[AnswerModel]) -> dict[str, Dtype]:
    dtypes = {
        name: MONTH if field.json_schema_extra == _MONTH_UNIT else _choose_dtype(field.annotation)
        for name, field in model.model_fields.items()
    }
    return {name: dtype for name, dtype in dtypes.items() if dtype is not None}


def _choose_dtype(annotation: Any) -> Dtype | None:
    if get_origin(annotation) in (Union, types.UnionType):
        options = (one for one in get_args(annotation) if one is not type(None))
        kind, *others = (_plain_type(one) for one in options)
        if others:
            return MONEY
        return "Int64" if kind is int else _choose_dtype(kind)
    if get_origin(annotation) is Literal:
        return pd.CategoricalDtype(list(get_args(annotation)))
    kind = _plain_type(annotation)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return pd.CategoricalDtype([member.value for member in kind])
    return _DTYPES.get(kind)


_DTYPES = {Decimal: MONEY, float: "float64", int: "int64", bool: "bool", str: "str", dt.date: DAY}


def _plain_type(annotation: Any) -> Any:
    return getattr(annotation, "__origin__", annotation)

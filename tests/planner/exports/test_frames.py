"""Frames of an answer: every figure once, exact money, one dtype for each kind of value."""

import csv
import io
from decimal import Decimal
from functools import cache
from typing import Any

import pandas as pd
import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import TABLES
from planner.exports.frames import (
    FRAMES,
    capacity_frame,
    convert_money,
    format_csv,
    lines_frame,
    risk_frame,
    verdict_frame,
)
from tests.planner.comparison.compared import compared
from tests.planner.exports.answers import typed


@cache
def analysed() -> ComparisonAnswer:
    """Half a year with tornado and risk; owning is refused by a budget."""
    return compared(
        horizon_months=6,
        on_prem={"servers": [{"server": "dgx-h100"}]},
        constraints={"capex_budget": 1000},
        sensitivity=True,
        risk={"samples": 100},
    ).answer


def changed(answer: ComparisonAnswer, **fields: Any) -> ComparisonAnswer:
    """The answer with other fields, read anew: a copy would keep what it has looked up."""
    return ComparisonAnswer(**dict(answer) | fields)


@cache
def empty() -> ComparisonAnswer:
    """The same without scenarios, purchases, tornado, risk or verdict."""
    bare = dict.fromkeys(("scenarios", "break_even", "assumptions", "drivers"), ())
    return changed(analysed(), **bare, risk=None, verdict=None)


def test_lines_sum_to_the_total_of_each_scenario_to_the_cent() -> None:
    totals = lines_frame(typed()).groupby("scenario", observed=True)["amount"].sum()
    assert totals.to_dict() == {s.key.value: s.total_cost for s in typed().feasible}


def test_lines_have_a_row_for_each_cost_line_and_typed_columns() -> None:
    frame = lines_frame(typed())
    assert len(frame) == sum(len(s.lines) for s in typed().feasible)
    assert frame.dtypes.astype(str).to_dict() == {
        "scenario": "category",
        "month": "period[M]",
        "category": "category",
        "label": "str",
        "provider": "str",
        "region": "str",
        "instance_type": "str",
        "purchase_option": "str",
        "quantity": "float64",
        "unit": "str",
        "unit_price": "object",
        "amount": "object",
        "offer_id": "str",
        "source": "str",
        "currency": "category",
    }
    assert all(isinstance(amount, Decimal) for amount in frame["amount"])


def test_capacity_names_its_source_and_sums_to_the_demand() -> None:
    frame = capacity_frame(typed())
    served = frame.groupby("scenario", observed=True)["hours_used"].sum()
    assert served.min() == pytest.approx(typed().demand.total_hours)
    for scenario in typed().feasible:
        assert served[scenario.key] == pytest.approx(sum(r.hours_used for r in scenario.capacity))
    labels = {key for key in frame["source"] if typed().labels[key]}
    assert {typed().labels[key] for key in labels} == set(frame["label"])


def test_risk_has_a_row_for_each_feasible_scenario() -> None:
    frame = risk_frame(analysed())
    risk = analysed().risk
    assert risk is not None
    allowed = [s.key.value for s in analysed().feasible if s.allowed]
    assert frame["scenario"].tolist() == allowed
    assert "spot" not in allowed
    for row in frame.itertuples():
        cost = getattr(risk, row.scenario)
        assert cost is not None
        assert (row.p10, row.p90) == (cost.p10, cost.p90)
        assert (row.total_p10, row.total_p90) == (cost.total_p10, cost.total_p90)
    assert frame["probability_cheapest"].sum() == pytest.approx(1.0)


def test_the_verdict_is_one_row_with_what_to_approve_and_to_sign() -> None:
    answer = analysed()
    told, (row,) = answer.verdict, verdict_frame(answer).to_dict("records")
    assert told
    assert told.range
    assert row["scenario"] == answer.recommendation.scenario
    for name in ("total", "present_value", "owed_after", "capital_to_approve",
                 "obligation_to_sign", "headline", "confidence"):  # fmt: skip
        shown = row[name]
        assert (None if pd.isna(shown) else shown) == getattr(told, name), name
    assert (row["p10"], row["p90"]) == (told.range.p10, told.range.p90)
    assert row["oldest_price"].date() == told.oldest_price
    assert row["currency"] == "USD"


@pytest.mark.parametrize("name", FRAMES)
def test_a_table_without_rows_has_the_same_columns_and_types(name: str) -> None:
    bare, full = FRAMES[name](empty()), FRAMES[name](analysed())
    assert len(bare) == 0
    assert bare.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict()


@pytest.mark.parametrize("name", FRAMES)
def test_money_is_exact_until_it_is_converted(name: str) -> None:
    exact = FRAMES[name](analysed())
    assert ("currency" in exact) == (name not in {"assumptions", "capacity"})
    converted = convert_money(exact)
    left = set(converted.columns[converted.dtypes == "object"])
    assert left == ({"value"} if name == "assumptions" else set())
    for column in set(exact.columns[exact.dtypes == "object"]) - {"value"}:
        assert all(isinstance(amount, Decimal) for amount in exact[column].dropna())
        assert converted[column].dtype == "float64"


def test_csv_reads_back_to_the_same_amounts_and_runs_no_formula() -> None:
    update = {"label": "=1+1", "unit_price": Decimal("1E-7")}
    line = typed().feasible[0].lines[0].model_copy(update=update)
    scenario = typed().feasible[0].model_copy(update={"lines": (line,)})
    frame = lines_frame(changed(typed(), scenarios=(scenario,)))
    (row,) = csv.DictReader(io.StringIO(format_csv(frame)))
    assert (row["label"], row["unit_price"]) == ("'=1+1", "0.0000001")
    assert (row["amount"], row["month"]) == (str(line.amount), "2027-01")


def test_the_command_offers_every_frame() -> None:
    assert tuple(FRAMES) == TABLES

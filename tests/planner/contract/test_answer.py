"""Every field of an answer says what it is and in which unit; months and options have one table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.scenario import CostLine
from planner.contract.labels import TRAITS
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption
from tests.planner.exports.answers import typed


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in model.__subclasses__():
        yield one
        yield from subclasses(one)


MODELS = list(
    dict.fromkeys(m for m in subclasses(AnswerModel) if m.__module__.startswith("planner"))
)
assert {ComparisonAnswer, EstimateAnswer} <= set(MODELS)


def is_number(schema: dict[str, Any]) -> bool:
    parts = [schema, *schema.get("anyOf", ())]
    return any(part.get("type") in ("number", "integer") for part in parts)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_has_a_description_and_every_number_a_unit(model: type[BaseModel]) -> None:
    for name, schema in model.model_json_schema(mode="serialization")["properties"].items():
        assert schema.get("description"), name
        if is_number(schema):
            units = [part.get("unit") for part in (schema, *schema.get("anyOf", ()))]
            assert any(units), name


def test_money_is_a_decimal_string_and_comes_back_the_same() -> None:
    answer = typed()
    again = ComparisonAnswer.model_validate(answer.to_json())
    assert again == answer
    assert isinstance(answer.to_json()["scenarios"][0]["total_cost"], str)
    assert isinstance(again.scenarios[0].total_cost, Decimal)


def test_an_answer_is_frozen_and_judged_when_read() -> None:
    with pytest.raises(ValidationError):
        typed().name = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        ComparisonAnswer.model_validate({**typed().to_json(), "start": "soon"})
    with pytest.raises(ValidationError):
        CostLine.model_validate({"month": 1})


def test_the_answer_s_own_months() -> None:
    answer = typed()
    assert answer.months[0] == answer.start
    assert answer.month(12) - answer.first_month == dt.timedelta(days=365)


def test_every_purchase_option_has_its_traits() -> None:
    assert {option.value for option in PurchaseOption} < set(TRAITS)
    for option in PurchaseOption:
        assert TRAITS[option].is_commitment == option.is_commitment
        assert TRAITS[option].is_interruptible == option.is_interruptible


HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100}


def test_amounts_and_rates_are_taken_as_the_answer_gives_them() -> None:
    given = {"tax_rate": "0.25", "discount_rate_per_year": "0.080"}
    owning = {"electricity_per_kwh": "0.12", "already_owned": []}
    request = read_request({"workload": HOURS, "finance": given, "on_prem": owning})
    assert request.finance.tax_rate == 0.25
    assert request.on_prem.electricity_per_kwh == 0.12


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "text", ["", "1e9999", "1e999", "0x10", "NaN", "inf", "1_000", "٣", "9" * 61, " 1", "1,5"]
)
def test_other_texts_are_no_amounts(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_request({"workload": HOURS, "finance": {"tax_rate": text}})
    assert caught.value.field == "finance.tax_rate"

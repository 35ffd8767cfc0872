"""Every field of an answer says what it is and in which unit; months and options have one table."""

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from planner.contract.amounts import (
    format_named_shares,
    format_shares,
    fractions_of_whole,
    round_shares,
)
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
    dict.fromkeys(m for m in subclasses(AnswerModel) if m.__module__.startswith("planner.contract"))
)
assert {ComparisonAnswer, EstimateAnswer} <= set(MODELS)


def is_number(schema: dict[str, Any]) -> bool:
    parts = [schema, *schema.get("anyOf", ())]
    return any(part.get("type") in ("number", "integer") for part in parts)


def test_every_field_has_a_description_and_every_number_a_unit() -> None:
    for model in MODELS:
        for name, schema in model.model_json_schema(mode="serialization")["properties"].items():
            assert schema.get("description"), (model, name)
            if is_number(schema):
                units = [part.get("unit") for part in (schema, *schema.get("anyOf", ()))]
                assert any(units), (model, name)


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


@pytest.mark.parametrize(
    "text", ["", "1e9999", "1e999", "0x10", "NaN", "inf", "1_000", "٣", "9" * 61, " 1", "1,5"]
)
def test_other_texts_are_no_amounts(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_request({"workload": HOURS, "finance": {"tax_rate": text}})
    assert caught.value.field == "finance.tax_rate"


WHOLES = [
    (0.8749, 0.1249, 0.0002),
    (0.87499999963, 0.125),
    (0.865, 0.135),
    (1 / 3,) * 3,
    (1.0,),
    (0.5, 0.5000000000000002),
    (0.992, 0.004, 0.004),
]


def made_up(seed: int) -> list[float]:
    drawn = random.Random(seed)
    weights = [drawn.random() ** 4 for _ in range(drawn.randint(1, 9))]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("digits", [0, 1])
def test_shares_of_a_whole_add_up_to_it(digits: int) -> None:
    every = 100 * 10**digits
    for fractions in [*WHOLES, *map(made_up, range(40))]:
        rounded = round_shares(fractions, digits)
        assert sum(rounded) == every, fractions
        assert all(abs(a - b * every) < 1 for a, b in zip(rounded, fractions, strict=True))


def test_what_is_left_from_computing_moves_no_per_cent() -> None:
    """12.5 and 87.5: alone the first is 12 and the second 88, or with noise 87."""
    for noise in (0.0, 4e-10, -4e-10, 3e-7):
        assert format_shares([0.875 - noise, 0.125]) == ["88%", "12%"]
        assert format_shares([0.125 - noise, 0.875]) == ["12%", "88%"]


@pytest.mark.parametrize(
    ("fractions", "words"),
    [
        ((0.996, 0.004), ["more than 99%", "less than 1%"]),
        ((0.994, 0.006), ["99%", "1%"]),
        ((1.0, 0.0), ["100%", "0%"]),
        ((1 - 5e-7, 5e-7), ["100%", "0%"]),
        ((0.4978, 0.4962, 0.006), ["50%", "50%", "less than 1%"]),
        ((0.992, 0.004, 0.004), ["99%", "less than 1%", "less than 1%"]),
    ],
)
def test_no_share_is_rounded_to_none_or_to_all(fractions: list[float], words: list[str]) -> None:
    assert format_shares(fractions) == words


def test_what_nobody_named_has_is_left_out_of_the_shares() -> None:
    assert format_shares([0.5, 0.3]) == ["50%", "30%"]


def test_the_order_of_names_changes_no_share() -> None:
    parts = {"rent": 0.335, "reserve": 0.335, "buy": 0.33}
    told = [format_named_shares(dict(order)) for order in permutations(parts.items())]
    assert all(one == {"rent": "34%", "reserve": "33%", "buy": "33%"} for one in told)


def test_fractions_of_amounts_sum_to_one_whatever_their_order() -> None:
    drawn = random.Random(7)
    for count in range(1, 20):
        amounts = {f"p{i}": drawn.randrange(0, 10**7) for i in range(count - 1)} | {"last": 1}
        whole = sum(amounts.values())
        fractions = fractions_of_whole(amounts, whole)
        assert sum(Decimal(str(one)) for one in fractions.values()) == 1
        assert all(abs(fractions[k] - own / whole) < 1e-6 for k, own in amounts.items())
        assert fractions_of_whole(dict(reversed(amounts.items())), whole) == fractions

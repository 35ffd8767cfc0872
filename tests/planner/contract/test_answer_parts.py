"""Parts of an answer that are put together without being checked field by field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import AnswerModel, Category
from planner.contract.answer.scenario import CapacityRow, CostLine

LINE: dict[str, Any] = {
    "month": 3,
    "category": Category.COMPUTE,
    "label": "8 accelerators",
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "purchase_option": "on_demand",
    "quantity": 730.0,
    "unit": "node-hours",
    "unit_price": Decimal("55.04"),
    "amount": Decimal("40179.20"),
    "offer_id": "aws:1",
    "source": "aws:1",
}
ROW: dict[str, Any] = {
    "month": 0,
    "source": "aws:1",
    "accelerators": 8.0,
    "hours_available": 5840.0,
    "hours_used": 5800.0,
}


@pytest.mark.parametrize(("model", "values"), [(CostLine, LINE), (CapacityRow, ROW)])
def test_a_part_of_known_values_is_the_one_that_was_checked(
    model: type[AnswerModel], values: dict[str, Any]
) -> None:
    known, checked = model.of_values(**values), model(**values)

    assert values.keys() == model.model_fields.keys()
    assert known == checked
    assert known.model_dump_json() == checked.model_dump_json()
    assert known.model_dump(exclude_unset=True) == checked.model_dump(exclude_unset=True)


def test_a_changed_copy_leaves_the_others_as_they_are() -> None:
    one, other = CostLine.of_values(**LINE), CostLine.of_values(**LINE)

    changed = one.model_copy(update={"amount": Decimal("1.00")})

    assert (changed.amount, one.amount) == (Decimal("1.00"), LINE["amount"])
    assert one == other

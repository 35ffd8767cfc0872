"""CSV: a row for each cost line, each cell the line's or its offer's."""

import csv
import io
from decimal import Decimal

import pytest

from planner.exports import FORMATS, Context
from tests.golden.answers import REQUESTS, answered
from tests.golden.shown import month
from tests.properties import one_in

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""


@pytest.mark.parametrize("name", one_in(3, list(REQUESTS)))
def test_every_row_is_a_line_of_the_answer(name: str) -> None:
    answer = answered(name)
    raw = FORMATS["csv"].make(answer, Context()).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(raw)))
    lines = [(one.key.value, line) for one in answer.feasible for line in one.lines]
    assert len(rows) == len(lines)
    for row, (key, line) in zip(rows, lines, strict=True):
        offer = answer.offers.get(line.offer_id)
        assert row == {
            "scenario": key,
            "month": month(answer.start, line.month),
            "category": line.category.value,
            "label": line.label,
            "provider": line.provider,
            "region": line.region,
            "instance_type": line.instance_type,
            "purchase_option": line.purchase_option,
            "quantity": str(line.quantity),
            "unit": line.unit,
            "unit_price": f"{line.unit_price:f}",
            "amount": f"{line.amount:f}",
            "currency": answer.currency,
            "offer_id": line.offer_id,
            "price_as_of": offer.as_of.isoformat() if offer and offer.as_of else "",
            "price_source": offer.source if offer else "",
            **dict.fromkeys(("saved_comparison", "state", "state_by", "state_at"), ""),
        }
    for one in answer.feasible:
        amounts = [Decimal(row["amount"]) for row in rows if row["scenario"] == one.key]
        assert sum(amounts) == one.total_cost

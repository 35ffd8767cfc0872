"""One's own tables: exact columns, close ones after asking, locales and workbooks."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest
from openpyxl import Workbook

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read, table


def test_a_table_of_months():
    rows = [
        {
            "month": "2025-05",
            "accelerator_hours": "100",
            "cost": "250.5",
            "currency": "EUR",
            "accelerator": "H100",
            "project": "chat",
        },
        {
            "month": "2025-06",
            "accelerator_hours": "50",
            "cost": "",
            "currency": "EUR",
            "accelerator": "H100",
            "project": "chat",
        },
    ]
    first, second = read(table(rows)).lines("month", "project")
    assert (first.accelerator_hours, first.billed["EUR"]) == (100.0, Decimal("250.5"))
    assert (second.accelerator_hours, second.billed["EUR"]) == (50.0, None)


def test_hours_of_machines_are_multiplied_and_unknown_machines_named():
    rows = [
        {
            "month": "2025-05",
            "instance_hours": "10",
            "provider": "aws",
            "instance_type": "p5.48xlarge",
        },
        {"month": "2025-05", "instance_hours": "10", "provider": "", "instance_type": "rig"},
    ]
    usage = read(table(rows))
    assert hours_by(usage.ledger, "machine") == {"p5.48xlarge": 80.0}
    assert "how many accelerators rig has is not known" in usage.ledger.not_understood[0]


def test_columns_by_other_names_are_read_and_noted():
    rows = table([{"Month": "2025-05", "GPU hours": "1.250,5", "Kosten": "3.000,00", "x": 1}], ";")
    usage = read(rows)
    assert hours_by(usage.ledger, "month") == {"2025-05": 1250.5}
    assert usage.notes()[:2] == [
        "Columns that are read by another name: Month as month, GPU hours as accelerator_hours, "
        "Kosten as cost.",
        "Columns that are not read: x.",
    ]
    named = read(table([{"when": "2025-05", "hours": 2}]), mapping={"when": "month"})
    assert hours_by(named.ledger, "month") == {"2025-05": 2.0}


def test_a_table_of_something_else_is_refused():
    with pytest.raises(InvalidInput, match="belongs to no form that is read"):
        read(table([{"city": "Ulm", "people": 1}]))


def test_the_csv_of_a_plan_is_no_bill():
    """Its lines are those of every scenario, so their sum is several times the plan."""
    line = {"scenario": "spot", "month": "2027-01", "category": "compute", "amount": 5}
    own = table([{**line, "offer_id": "aws:x", "price_source": "list"}])
    with pytest.raises(InvalidInput, match="rows are planned"):
        read(own)
    with pytest.raises(InvalidInput, match="rows are planned"):
        read(own, mapping={"amount": "cost"})


def workbook(*rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_workbook_is_read_as_its_first_sheet():
    rows = ["month", "accelerator_hours", "cost"], ["2025-05", 12.5, 99.95], [], ["2025-06", 2, 1]
    usage = read(workbook(*rows))
    assert hours_by(usage.ledger, "month") == {"2025-05": 12.5, "2025-06": 2.0}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"month": "May 2025", "accelerator_hours": "1"}, "'May 2025' is not a month"),
        ({"month": "2025-05", "accelerator_hours": "-1"}, "is less than 0"),
        ({"month": "2025-05", "accelerator_hours": "=A1"}, "'=A1' is not a number"),
    ],
)
def test_rows_that_are_not_understood_are_named(row, problem):
    assert problem in read(table([row])).ledger.not_understood[0]

"""Published calculations of what owning and renting cost, rebuilt through the API.

`cases.csv` lists every figure with its source and the tolerance in per cent; a figure that is left
out says why.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from tests.planner.comparison.published import fleets, machines
from tests.planner.comparison.published.machines import Outputs
from tests.properties import one_in

with (Path(__file__).parent / "cases.csv").open(encoding="utf-8", newline="") as stream:
    ROWS = list(csv.DictReader(stream))
REBUILT = [row for row in ROWS if not row["left_out"]]
CASES = {**machines.CASES, **fleets.CASES}


@cache
def outputs_of(case: str) -> Outputs:
    return CASES[case]()


@pytest.mark.django_db
@pytest.mark.xdist_group("published")
@pytest.mark.parametrize(
    "row", one_in(10, REBUILT), ids=[f"{r['case']}: {r['output']}" for r in REBUILT]
)
def test_rebuilt(row: Mapping[str, str]) -> None:
    figure = outputs_of(row["case"])[row["output"]]
    assert figure == pytest.approx(
        float(row["expected"]), rel=float(row["tolerance_percent"]) / 100
    )


def test_the_accuracy_page_counts_them() -> None:
    counted = f"Of {len(ROWS)} published figures of owning and renting {len(REBUILT)} are rebuilt"
    left_out = {4: "four"}[len(ROWS) - len(REBUILT)]
    accuracy = (Path(settings.BASE_DIR) / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert counted in accuracy
    assert f"the other {left_out} say why they are not" in accuracy


def test_every_case_is_rebuilt_or_left_out_for_a_reason() -> None:
    assert {row["case"] for row in REBUILT} == set(CASES)
    left_out = [row for row in ROWS if row["left_out"]]
    assert len(REBUILT) >= 100
    assert all(row["left_out"].startswith("The ") for row in left_out)
    assert not set(CASES) & {row["case"] for row in left_out}
    assert len({(row["case"], row["output"]) for row in ROWS}) == len(ROWS)

"""Cells that no bill or log holds, found by changing those of whole files at random."""

from __future__ import annotations

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import read, reasons, table

SREPORT = b"""Cluster Utilization 2025-05-01T00:00:00 - 2025-06-01T00:00:00
Usage reported in TRES Hours
Cluster|TRES -1-00:00:00|Allocated|Down|PLND Down|Idle|Planned|Reported
c1|gres/gpu|1200|20|0|150|0|1350
"""
WANDB = b"_runtime,_timestamp,system.gpu.0.gpu\n0,%s,90\n60,%s,80\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (SREPORT, "column TRES Name: is missing"),
        (WANDB % (b"9" * 20, b"9" * 20), "time: is not between the years 1900 and 2200"),
        (WANDB.replace(b"60", b"1e20") % (b"1746499800", b"1746499860"), "years 1900 and 2200"),
    ],
)
def test_a_file_without_what_it_needs_says_so(content, problem):
    with pytest.raises(InvalidInput, match=problem):
        read(content)


LINE = {
    "service.description": "Compute Engine",
    "sku.description": "Nvidia H100 80GB GPU running in Netherlands",
    "usage_start_time": "2025-05-31 23:00:00+00:00",
    "usage_end_time": "2025-06-01 00:00:00+00:00",
    "cost": "80",
    "currency": "USD",
    "usage.amount": "28800",
    "usage.unit": "seconds",
    "labels": "[]",
    "credits": "[]",
    "invoice.month": "202506",
    "cost_type": "regular",
}


@pytest.mark.parametrize("column", ["credits", "labels"])
@pytest.mark.parametrize("cell", ["[{[1]: 2}]", "[{{}}]"])
def test_a_list_that_python_cannot_hold_is_refused(column, cell):
    assert reasons(read(table([LINE]))) == {"accelerator_use": 1}
    with pytest.raises(InvalidInput, match="is no list"):
        read(table([LINE, LINE | {column: cell}]))

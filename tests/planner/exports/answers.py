"""Answers that use every way of paying, for the tests of exports."""

import io
from functools import cache
from typing import Any

import openpyxl

from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import FORMATS, Context
from tests.planner.comparison.compared import compared

KEYS = {"On demand": "on_demand", "Cloud": "cloud", "On-prem": "on_prem", "Hybrid": "hybrid"}
"""The scenarios by what a workbook calls them."""


@cache
def typed() -> ComparisonAnswer:
    """Two years that grow: commitments with and without upfront, servers, spot, data, tax."""
    return compared(
        hours=[4000.0] * 12 + [9000.0] * 12,
        on_prem={"servers": [{"server": "dgx-h100"}]},
        finance={"tax_rate": 0.2},
        data={"storage_gib": 10_000, "egress_gib_per_month": 100},
        price_adjustments=[{"provider": "aws", "multiplier": 0.9}],
        cheaper_if=True,
        name='=HYPERLINK("http://evil.test","click")',
    ).answer


@cache
def answer() -> dict[str, Any]:
    """The same as the JSON that the API gives."""
    return typed().to_json()


def scenario(key: str) -> dict[str, Any]:
    return next(s for s in answer()["scenarios"] if s["key"] == key)


@cache
def plain_book(values: bool = False) -> Any:
    """Its workbook, for tests that only read."""
    raw = FORMATS["xlsx"].make(typed(), Context(name="=1+1", team="@team", project="-project"))
    return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)

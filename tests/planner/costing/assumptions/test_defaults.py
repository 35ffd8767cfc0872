"""What a comparison assumes where the request says nothing."""

import re

import pytest

from planner.costing.assumptions.assumptions import all_defaults, default


def test_every_default_has_a_source_that_pages_print_and_lies_within_its_range() -> None:
    for one in all_defaults().values():
        assert one.low <= one.value <= one.high, one.field
        assert one.source
        assert one.unit
        assert 2010 <= one.year <= 2030
        assert not re.search(r"[a-z]_[a-z]", one.source)


def test_a_field_without_default_is_named() -> None:
    with pytest.raises(KeyError, match="unit_price"):
        default("unit_price")


def test_an_assumption_is_marked_as_one() -> None:
    assert default("demand_growth_sd").assumed
    assert not default("pue").assumed

"""Cost by hours of use: few lines in the picture, every line in the table, one reading in words."""

from __future__ import annotations

import pytest

from planner.contract.labels import OWNED, traits
from planner.web.answer.charts import hours_curve
from planner.web.common.chart import Chart
from tests.golden.answers import answered

BUYS = "servers bought in several months, sensitivity"
AGAINST_SPOT = "hours, commitments with upfront, tax, falling prices"
RENTS = "owed after the horizon"
NEVER_PAYS = "samples with a range, risk"


def chart_of(name: str) -> Chart:
    chart = hours_curve(answered(name))
    assert chart is not None
    return chart


def drawn(name: str) -> list[str]:
    curve, chart = answered(name).cost_curve, chart_of(name)
    lines = zip(curve.series, chart.series, strict=True)
    return [one.purchase_option for one, line in lines if line.in_picture]


def test_the_server_is_drawn_against_the_rent_by_the_hour_and_that_of_the_break_even() -> None:
    assert drawn(BUYS) == [OWNED, "on_demand", "reserved"]
    row = answered(BUYS).break_even[0]
    assert row.term_months == 12
    reserved = [one for one in chart_of(BUYS).series if one.in_picture][-1]
    assert "12 months" in reserved.name


@pytest.mark.parametrize("name", [BUYS, AGAINST_SPOT, RENTS])
def test_the_table_holds_every_line(name: str) -> None:
    chart = chart_of(name)
    assert len(chart.header) == 1 + len(answered(name).cost_curve.series)


def test_an_interruptible_rent_is_drawn_only_where_the_work_may_be_interrupted() -> None:
    assert drawn(AGAINST_SPOT) == [OWNED, "spot"]
    assert not any(traits(one).is_interruptible for one in (*drawn(BUYS), *drawn(RENTS)))


def test_marks_of_the_picture_are_where_owning_becomes_the_cheaper() -> None:
    chart, curve = chart_of(BUYS), answered(BUYS).cost_curve
    marks = [one.label for one in chart.marks if one.in_picture]
    assert marks == ["257 h"]
    assert len(curve.crossings) > len(marks)


def test_the_caption_says_from_which_use_on_owning_is_cheaper() -> None:
    summary = chart_of(BUYS).summary
    assert "from 257 h of use a month (35%) on it costs less than a3-highgpu-8g" in summary
    assert "at any use it costs less than p5.48xlarge" in summary
    assert summary.endswith("The other ways to rent are in the table.")
    assert len(summary) < 320


def test_chart_and_table_say_the_same_of_the_same_server_and_rent() -> None:
    answer, summary = answered(BUYS), chart_of(BUYS).summary
    committed, hourly, *_ = answer.break_even
    assert committed.server == hourly.server
    assert (committed.use_within_plan, hourly.term_months) == ("at any use", 0)
    assert hourly.use_within_plan == "from 257 h of use a month (35%)"
    for row in (committed, hourly):
        line = next(one for one in answer.cost_curve.series if one.key == row.against)
        assert (line.owning_pays, line.owning_pays_at) == (
            row.within_plan,
            row.utilisation_within_plan,
        )
        assert row.use_within_plan in summary


def test_the_caption_says_where_owning_is_never_cheaper() -> None:
    assert "it never costs less than a3-highgpu-8g" in chart_of(NEVER_PAYS).summary

"""Forecasts against what followed, and demand as a plan takes it."""

import datetime as dt
import itertools
import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.amounts import shift_month
from planner.contract.request.comparison import read_request
from planner.usage.demand import plan_demand, read_history
from planner.usage.forecast import SEASON, forecast, seasonal_naive, seasonal_trend
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import focus_row, read, sacct, table
from tests.planner.usage.public_series import SERIES

AHEAD = 6


def cut_by_cut(series):
    """Forecast and what followed, for each month of the past that has a year before it."""
    hours = [float(one) for one in series]
    for cut in range(SEASON, len(hours) - AHEAD + 1):
        yield hours[:cut], hours[cut : cut + AHEAD], forecast(hours[:cut], AHEAD)


@pytest.mark.parametrize("name", SERIES)
def test_a_forecast_of_a_public_series_is_a_tenth_better_than_the_year_before(name):
    own, naive = [], []
    for past, actual, carried in cut_by_cut(SERIES[name]):
        own += [abs(p - a) for p, a in zip(carried.p50, actual, strict=True)]
        naive += [abs(p - a) for p, a in zip(seasonal_naive(past, AHEAD), actual, strict=True)]
    assert fmean(own) <= 0.9 * fmean(naive)


@pytest.mark.parametrize("name", SERIES)
def test_the_range_of_a_public_series_holds_seven_to_nine_of_ten(name):
    inside = [
        low <= one <= high
        for _, actual, carried in cut_by_cut(SERIES[name])
        for low, one, high in zip(carried.p10, actual, carried.p90, strict=True)
    ]
    assert 0.7 <= fmean(inside) <= 0.9


def test_a_season_of_three_years_is_chosen_over_its_mean():
    hours = [1000 * (1 + 0.5 * math.sin(2 * math.pi * month / 12)) for month in range(36)]
    carried = forecast(hours, 12)
    assert carried.method == "seasonal_naive"
    assert carried.p50 == hours[-12:]
    assert carried.seasonality == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1e9), min_size=3, max_size=40), st.integers(1, 30))
def test_any_history_has_an_ordered_range_without_negative_hours(history, months):
    carried = forecast(history, months)
    for low, middle, high in zip(carried.p10, carried.p50, carried.p90, strict=True):
        assert 0 <= low <= middle <= high
        assert math.isfinite(high)


def history_of(*hours, accelerator="H100", start=(2025, 1)):
    year, month = start
    rows = []
    for one in hours:
        rows.append(
            {"month": f"{year}-{month:02d}", "accelerator_hours": one, "accelerator": accelerator}
        )
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return table(rows)


def test_demand_is_a_workload_that_a_comparison_takes():
    demand = plan_demand(read(history_of(*[7300] * 14)), 12)
    assert demand.start == "2026-03"
    assert demand.hours_per_month == pytest.approx([7300.0] * 12)
    assert demand.peak_accelerators == [10] * 12
    request = read_request(demand.request())
    assert request.workload.accelerator == "nvidia-h100-80gb-sxm"


def test_a_machine_that_never_stops_asks_for_no_ninth_accelerator():
    """744 h in the longest months are 730 in those of a plan."""
    firsts = [dt.date(2025 + month // 12, month % 12 + 1, 1) for month in range(16)]
    jobs = [
        {
            "JobID": str(number), "JobIDRaw": str(number), "Submit": f"{first}T00:00:00",
            "Start": f"{first}T00:00:00", "End": f"{last}T00:00:00",
            "ElapsedRaw": str((last - first).days * 86_400),
            "AllocTRES": "billing=8,cpu=8,gres/gpu:h100=8,gres/gpu=8,node=1",
        }
        for number, (first, last) in enumerate(itertools.pairwise(firsts), 1)
    ]  # fmt: skip
    demand = plan_demand(read(sacct(*jobs)), 12)
    assert max(demand.history.hours) == 8 * 744
    assert max(demand.hours_per_month) <= 8 * 730
    assert demand.peak_accelerators == [8] * 12
    assert any("worked without a break" in note for note in demand.notes)
    for low, middle in zip(demand.p10 or (), demand.hours_per_month, strict=False):
        assert low <= middle


def test_a_later_start_is_forecast_over_the_gap():
    demand = plan_demand(read(history_of(100, 110, 120)), 2, "2025-09")
    assert demand.start == "2025-09"
    assert any("ends 5 months before" in note for note in demand.notes)


@pytest.mark.parametrize(
    ("months", "words"),
    [(12, "the year before, +40% a year"), (3, "the mean of the history, +40% a year")],
)
def test_growth_is_over_the_year_before_and_again_in_the_next(months, words):
    used = [100.0 * month for month in range(1, months + 1)]
    demand = plan_demand(read(history_of(*used)), 24, growth=0.4)
    year = used if months == 12 else [200.0] * 12
    assert demand.hours_per_month == pytest.approx(
        [1.4 * hours for hours in year] + [1.96 * hours for hours in year], rel=0.03
    )
    assert demand.method == words


def test_a_month_that_the_files_cut_off_is_left_out():
    def job(number, month, day):
        return {
            "JobID": str(number),
            "JobIDRaw": str(number),
            "Start": f"2025-{month:02d}-{day:02d}T00:00:00",
            "End": f"2025-{month:02d}-{day:02d}T02:00:00",
        }

    days = [(1, 1), (1, 31), (2, 1), (2, 28), (3, 1), (3, 31), (4, 1), (4, 10)]
    usage = read(sacct(*(job(n, *day) for n, day in enumerate(days, 1))))
    demand = plan_demand(usage, 1)
    assert demand.history.hours == [16.0, 16.0, 16.0]
    assert demand.start == "2025-04"
    assert any("2025-04 ends on day 10" in note for note in demand.notes)


def bill_of(*months):
    """A bill of FOCUS: (month, hours of a machine of eight); less than 0 is a correction."""
    return table(
        focus_row(
            x_UsageType="BoxUsage:p5.48xlarge",
            ChargeClass="Correction" if hours < 0 else "",
            ConsumedQuantity=str(hours),
            ChargePeriodStart=f"{month}-01T00:00:00Z",
            ChargePeriodEnd=f"{shift_month(month)}-01T00:00:00Z",
        )
        for month, hours in months
    )


@pytest.mark.parametrize(
    ("months", "start", "hours", "note"),
    [
        ([("2025-01", 9), ("2025-02", -5), ("2025-03", 9)], "2025-01", [72, 0, 72], "as none"),
        ([("2025-01", -5), ("2025-02", 9)], "2025-02", [72], "left out"),
        ([("2025-02", 9), ("2025-03", -5)], "2025-02", [72], "left out"),
    ],
)
def test_a_month_of_more_corrections_than_use_is_no_use(months, start, hours, note):
    demand = plan_demand(read(bill_of(*months)), 1)
    assert (demand.history.start, demand.history.hours) == (start, hours)
    [named] = [one for one in demand.notes if "holds corrections of 40.00 h beyond" in one]
    assert named.endswith(f"{note}.")


def test_a_history_without_a_whole_month_of_use_is_refused():
    cut_off = bill_of(("2025-02", 3)).replace(b"2025-03-01T", b"2025-02-09T")
    with pytest.raises(InvalidInput, match="no whole month of use to plan on in 2025-01;"):
        plan_demand(read(bill_of(("2025-01", -1)), cut_off), 1)


GROWN = [
    *(100, 60, 150, 120, 80, 189, 50, 109, 139, 69, 89, 129, 99, 59, 174, 139),
    *(93, 220, 58, 127, 162, 81, 104, 150, 115, 69, 172, 138, 92, 217, 57, 126),
]
"""A season whose level rises once, in the second year, where the year before misleads."""


def test_a_method_is_compared_where_it_can_forecast_and_chosen_by_error_times_scale():
    """By error over scale the trend, which erred more on the same months, would be chosen."""

    def error(method, cuts):
        pairs = [
            (zip(method(GROWN[:cut], 6), GROWN[cut:], strict=False), min(6, len(GROWN) - cut))
            for cut in cuts
        ]
        return sum(sum(abs(a - b) for a, b in pair) / count for pair, count in pairs) / len(cuts)

    found, late = forecast(GROWN, 6), range(24, len(GROWN))
    ratio = error(seasonal_trend, late) / error(seasonal_naive, late)
    errors = found.errors
    assert errors["seasonal_naive"] == pytest.approx(error(seasonal_naive, range(12, len(GROWN))))
    assert errors["seasonal_trend"] / errors["seasonal_naive"] == pytest.approx(ratio)
    assert found.method == "seasonal_naive"


def test_the_days_of_a_month_that_a_table_cuts_off_are_no_month():
    days = (dt.date(2026, 1, 1) + dt.timedelta(days=n) for n in range(156))  # to 5 June
    rows = [{"day": day, "accelerator_hours": 240, "accelerator": "H100"} for day in days]
    history = read_history(read(table(rows)))
    assert (history.start, len(history.hours)) == ("2026-01", 5)
    assert "2026-06 ends on day 5" in " ".join(history.notes)

"""What is left of a plan in simulated outcomes, given how its hours went so far."""

from unittest.mock import Mock

import numpy as np
import pytest

from planner.contract.answer.comparison import AssumptionRow
from planner.costing.analysis.outlook import LAST_MONTHS, MonthLeft, draw_left
from planner.costing.price_processes.process import PriceKind, find_process
from planner.services.actuals.actuals import Estimate
from tests.planner.usage.public_series import SERIES

RENT = find_process("nvidia-h100-80gb-sxm", PriceKind.LIST)


def plan(**given):
    rows = [
        AssumptionRow.model_construct(field=f"risk.{name}", value=value, given=True)
        for name, value in given.items()
    ]
    by_field = {row.field: row.value for row in rows}
    return Mock(assumptions=rows, assumption=by_field.get)


def left(count, rent=100.0, fixed=0.0, paid=0.0):
    return [MonthLeft({RENT: rent}, fixed, paid)] * count


def test_the_mean_carries_the_share_on_and_fixed_costs_stay():
    drawn = draw_left(left(6, 100.0, 50.0), plan(), 1.2, [1.2], is_of_hours=True)
    assert drawn.mean() == pytest.approx(6 * (1.2 * 100 + 50), rel=0.03)
    assert drawn.min() > 6 * 50


def test_more_months_left_spread_further_and_a_steady_past_less():
    def spread(months, observed):
        drawn = draw_left(left(months), plan(), 1.0, observed, is_of_hours=True)
        low, high = np.percentile(drawn, (10, 90))
        return high / low

    assert spread(12, [1.0] * 3) > spread(3, [1.0] * 3)
    assert spread(3, [1.0] * 12) < spread(3, [1.0])
    assert spread(3, [0.5, 2.0] * 3) > spread(3, [1.0] * 6)


def replays(series):
    for start in (0, 4, 8, 12):
        for done in (3, 6, 9, 12):
            for ahead in (6, 9, 12):
                hours = series[start : start + done + ahead]
                if len(hours) == done + ahead:
                    yield hours[:done], hours[done:]


def test_eight_of_ten_ranges_hold_what_followed_on_public_clusters():
    holds = []
    for series in SERIES.values():
        for past, future in replays(series):
            planned = float(np.mean(past))
            observed = [hours / planned for hours in past]
            months = [MonthLeft({}, planned, 0.0)] * len(future)
            ratio = float(np.mean(observed[-LAST_MONTHS:]))
            drawn = draw_left(months, plan(samples=500), ratio, observed, is_of_hours=False)
            low, high = np.percentile(drawn, (10, 90))
            holds.append(low <= sum(future) <= high)
    assert len(holds) > 40
    assert 0.75 <= np.mean(holds) <= 0.9


def test_the_chance_to_end_over_budget_is_a_share_of_the_outcomes():
    end = Estimate(None, (1.0, 2.0, 3.0, 4.0))
    assert (end.chance_over(2), end.chance_over(9), end.chance_over(None)) == (0.5, 0.0, None)
    assert Estimate().percentile(10) is Estimate().chance_over(1) is None

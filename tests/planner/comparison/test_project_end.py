"""A project that may end: what is asked, what it costs then, and what is advised."""

from typing import Any

import numpy as np
import pytest

from planner.contract.request.comparison import read_request
from planner.costing.analysis.outcomes import PriceDrivers, RiskParameters, draw_outcomes
from planner.web.answer import charts
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

PLAIN: dict[str, Any] = {
    "price_sd": 0, "residual_sd": 0, "demand_growth_sd": 0, "slip_months_sd": 0, "hours_spread": 0,
}  # fmt: skip
BOX = {"server": "custom", "accelerator": "H100 SXM", "accelerator_count": 8,
       "unit_price": 240_000, "running_cost_per_hour": 0}  # fmt: skip
OWN = {"servers": [BOX], "lead_time_months": 0, "late_delivery_probability": 0,
       "network_storage_rate": 0, "install_cost_rate": 0, "spare_rate": 0,
       "utilisation_ceiling": 1}  # fmt: skip
CERTAIN = 1 - 1e-9
UNDISCOUNTED = {"discount_rate_per_year": 0, "server_price_trend_per_year": 0,
                "cloud_price_trend_per_year": 0}  # fmt: skip


def ended(usd_per_hour: str = "20.00", months: int = 24, **risk: Any) -> Compared:
    """Eight accelerators around the clock, rented or of one server."""
    prices = catalog(offer(usd_per_hour))
    asked = {"risk": {**PLAIN, **risk}, "on_prem": OWN, "finance": UNDISCOUNTED,
             "decide_every_months": 3, "sensitivity": True}  # fmt: skip
    return compared(prices, hours=8 * 730, horizon_months=months, **asked)


def test_a_project_that_would_end_after_its_plan_is_refused() -> None:
    with pytest.raises(InvalidInput, match="24 is not before the end of a plan of 24 months"):
        ended(end_probability=0.4, end_after_months=24)


def costs(one: Compared) -> dict[str, np.ndarray[Any, Any]]:
    assert one.choice is not None
    plans = {c.plan.key.value: i for i, c in enumerate(one.choice.candidates)}
    return {key: one.choice.total[at] for key, at in plans.items()}


def test_it_ends_in_a_month_or_in_any_quarter() -> None:
    none = PriceDrivers((), {})
    assert draw_outcomes(RiskParameters(4000, 1), none, 36).ends is None
    months = draw_outcomes(
        RiskParameters(4000, 1, end_probability=0.4, end_after_months=12), none, 36
    ).ends
    assert months is not None
    assert set(months) == {12, 36}
    assert (months == 12).mean() == pytest.approx(0.4, abs=0.02)
    quarters = draw_outcomes(RiskParameters(4000, 1, end_probability=0.1), none, 36).ends
    assert quarters is not None
    assert set(quarters) == set(range(3, 37, 3))
    assert (quarters > 12).mean() == pytest.approx(0.9**4, abs=0.02)


def test_then_nothing_is_rented_and_a_server_is_sold_at_its_age() -> None:
    one = ended(end_probability=CERTAIN, end_after_months=12)
    rented, bought = costs(one)["on_demand"], costs(one)["on_prem"]
    assert rented == pytest.approx(20.0 * 730 * 12)
    of_all = one.inputs.assumptions
    sold = 240_000 * of_all["residual_rate"] * (1 - of_all["resale_cost_rate"])
    assert bought == pytest.approx(240_000 - sold)


def test_a_server_in_place_is_switched_off() -> None:
    """As in a plan of so many months."""
    there = {"servers": [], "already_owned": [{"server": "hgx-h100-8", "bought": "2026-12"}]}

    def cost(months: int, **risk: Any) -> float:
        one = compared(catalog(offer("40.00")), hours=16 * 730, horizon_months=months,
                       on_prem=there, risk=PLAIN | risk, finance=UNDISCOUNTED)  # fmt: skip
        assert one.choice is not None
        return float(one.choice.total[one.choice.index].mean())

    assert cost(24, end_probability=CERTAIN, end_after_months=12) == pytest.approx(cost(12))


def test_outcomes_in_which_it_goes_on_cost_what_they_did() -> None:
    whole, some = costs(ended()), costs(ended(end_probability=0.3, end_after_months=6))
    for key in ("on_demand", "on_prem"):
        assert some[key].max() == pytest.approx(whole[key].max())
        assert (some[key] == pytest.approx(some[key].max())) is False
        goes_on = np.isclose(some[key], some[key].max())
        assert goes_on.mean() == pytest.approx(0.7, abs=0.04)


def test_it_weighs_on_the_choice_and_is_said() -> None:
    lasting = ended("10.00")
    ending = ended("10.00", end_probability=0.5, end_after_months=6)
    assert lasting.answer.recommended is not None
    assert lasting.answer.recommended.buys_or_leases
    assert ending.answer.recommended is not None
    assert not ending.answer.recommended.buys_or_leases
    verdict = ending.answer.verdict
    assert verdict is not None
    assert verdict.reasons[0] == (
        "If the project ends after 6 months (a chance of 50%), nothing is owed any more."
    )
    assert float(verdict.risk_allowance["project_end"]) < 0
    (turn,) = (row for row in ending.answer.drivers if row.field == "risk.end_probability")
    assert 0 < (turn.turns_at or 0) < 0.5
    assert turn.sentence.endswith(" chance that the project ends, buy 1 server.")
    assert turn.expected_at_high < turn.expected_at_low
    rows = {row.field: row.value for row in ending.answer.assumptions}
    assert (rows["risk.end_probability"], rows["risk.end_after_months"]) == (0.5, 6)
    assert "risk.end_probability" not in {row.field for row in lasting.answer.assumptions}


def test_what_was_paid_upfront_is_lost() -> None:
    prices = catalog(offer("30.00"), offer("0.00", "reserved", term_months=24, upfront="120000"))
    one = compared(prices, hours=8 * 730, horizon_months=24, on_prem={"servers": []},
                   risk={**PLAIN, "end_probability": 0.05})  # fmt: skip
    assert one.answer.verdict is not None
    assert one.answer.verdict.reasons[0] == (
        "If the project ends (5% each quarter), at worst after 3 months, "
        "105,000 USD paid upfront is lost."
    )


def test_a_minimum_spend_that_is_not_met_any_more_is_owed() -> None:
    spend = {"label": "Deal", "provider": "aws", "amount": 250_000,
             "first": "2027-01", "last": "2028-12"}  # fmt: skip
    one = compared(catalog(offer("20.00")), hours=8 * 730, horizon_months=24,
                   on_prem={"servers": []}, existing={"minimum_spend": [spend]},
                   risk={**PLAIN, "end_probability": CERTAIN, "end_after_months": 6},
                   finance=UNDISCOUNTED)  # fmt: skip
    (stop,) = (row for row in one.answer.stops if row.months == 6)
    assert float(stop.owed) == pytest.approx(250_000 - 6 * 730 * 20)
    assert one.answer.verdict is not None
    assert "162,400 USD is still owed" in one.answer.verdict.reasons[0]


def test_tokens_count_as_far_as_they_are_answered_before_the_end() -> None:
    """Work that begins late by a month misses a project that ends after one."""
    chat = {"kind": "serving", "parameters": 8e9, "requests_per_second": 3,
            "prompt_tokens": 500, "answer_tokens": 300}  # fmt: skip

    def price(**risk: Any) -> float:
        answer = compared(catalog(offer("20.00")), workload=chat, horizon_months=12,
                          on_prem={"servers": []}, risk=PLAIN | risk).answer  # fmt: skip
        return float(answer.cost_per_million_tokens["expected"])

    ended_soon = {"end_probability": CERTAIN, "end_after_months": 1}
    assert price(**ended_soon) == pytest.approx(price(), rel=0.01)
    assert price(slip_months_sd=2, **ended_soon) == pytest.approx(price(), rel=0.01)


@pytest.mark.parametrize(
    ("risk", "problem"),
    [({"end_after_months": 12}, "end_probability"), ({"end_probability": 1}, "horizon_months")],
)
def test_months_without_a_chance_and_a_certain_end_are_refused(
    risk: dict[str, Any], problem: str
) -> None:
    hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}
    with pytest.raises(InvalidInput, match=problem):
        read_request({"workload": hours, "risk": risk})


def test_the_price_that_is_watched_is_drawn_with_its_trigger() -> None:
    one = ended("6.00", months=36, price_sd=0.5)
    answer = one.answer
    chart = charts.trigger(answer)
    assert answer.policy is not None
    assert answer.policy.triggers
    assert chart is not None
    low, middle, high, at = (series.values for series in chart.series)
    for row, *fan in zip(at, low, middle, high, strict=True):
        assert fan == sorted(fan)
        assert row is None or row > 0

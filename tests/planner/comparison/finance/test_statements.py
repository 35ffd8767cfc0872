"""Fiscal years, returns and leases of an answer: what sums to what, and what each says."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer, ScenarioFinance
from planner.web.answer.verdict import list_returns
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer
from tests.properties import one_in

MARKET = catalog(offer("50"), offer("30", "reserved", term_months=12, payment_option="no_upfront"))
SERVER = {
    "server": "custom", "accelerator": H100, "accelerator_count": 8, "unit_price": 200_000,
    "power_kw": 10,
}  # fmt: skip
LEASE = {"method": "lease", "months": 30, "interest_rate_per_year": 0.1}
LOAN = {"method": "loan", "months": 30, "interest_rate_per_year": 0.1, "deposit_rate": 0.2}
METHODS: list[dict[str, Any]] = [
    {},
    LOAN,
    LOAN | {"method": "hire_purchase", "balloon_rate": 0.3, "payments": "in_advance"},
    LEASE,
    LEASE | {"balloon_rate": 0.2, "deposit_rate": 0.1, "payments": "in_advance"},
]
TIMINGS: list[dict[str, Any]] = [
    {},
    {"cash_timing": "month_middle", "fiscal_year_start_month": 10},
    {"cash_timing": "month_end", "payment_terms_days": 45},
    {"cash_timing": "year_end", "fiscal_year_start_month": 4, "tax_rate": 0.25},
]


def asked(financing: dict[str, Any] | None = None, **fields: Any) -> Compared:
    own = {"servers": [SERVER], "lead_time_months": 2, "financing": financing or {}}
    return compared(
        MARKET, hours=8 * 730, start="2027-03", horizon_months=24,
        **({"on_prem": own | fields.pop("on_prem", {})} | fields),
    )  # fmt: skip


def finance_of(answer: ComparisonAnswer, key: str) -> tuple[ScenarioAnswer, ScenarioFinance]:
    scenario = answer.by_key[key]
    assert scenario.finance is not None
    return scenario, scenario.finance


@pytest.mark.parametrize("financing", METHODS)
@pytest.mark.one_in(2)
@pytest.mark.parametrize("timing", one_in(2, TIMINGS))
def test_every_view_sums_to_the_total(financing: Any, timing: Any) -> None:
    answer = asked(financing, finance=timing).answer
    for scenario in answer.feasible:
        finance = scenario.finance
        assert finance is not None
        years, total = finance.fiscal_years, scenario.total_cost
        assert sum(year.cash for year in years) == total
        assert sum(year.cost for year in years) == total
        assert sum(scenario.accrued_per_month) == total
        for year in years:
            parts = (year.operating, year.depreciation, year.lease, year.interest)
            assert sum((*parts, year.resale, year.tax)) == year.cost
        if finance.has_leases:
            assert sum(year.leases.cost for year in years if year.leases) == total
            assert years[-1].leases is not None
            assert years[-1].leases.right_of_use == years[-1].leases.liability == 0
        assert years[-1].loan == 0
        assert [year.fiscal_year for year in years] == list(
            range(years[0].fiscal_year, years[0].fiscal_year + len(years))
        )
        capital = sum(
            line.amount
            for line in scenario.lines
            if line.category in ("capex", "install", "network_storage", "spares")
        )
        assert sum(year.capital for year in years) == capital


@pytest.mark.parametrize("financing", METHODS)
@pytest.mark.parametrize("timing", one_in(3, TIMINGS))
def test_what_is_planned_with_is_what_the_lines_come_to(financing: Any, timing: Any) -> None:
    found = asked(financing, finance=timing)
    for scenario in found.scenarios.values():
        if scenario.feasible:
            assert float(scenario.net_present_cost) == pytest.approx(scenario.cost, abs=2.0)


def test_fiscal_years_are_named_after_the_year_in_which_they_end() -> None:
    _, finance = finance_of(asked(finance={"fiscal_year_start_month": 10}).answer, "on_demand")
    assert [(y.fiscal_year, y.first, y.last) for y in finance.fiscal_years] == [
        (2027, "2027-03", "2027-09"), (2028, "2027-10", "2028-09"), (2029, "2028-10", "2029-09"),
    ]  # fmt: skip
    month = Decimal(730 * 50)
    assert [y.cash for y in finance.fiscal_years] == [7 * month, 12 * month, 5 * month]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("timing", "paid"),
    [
        ({"cash_timing": "month_end"}, [10, 12, 2]),
        ({"cash_timing": "month_middle", "payment_terms_days": 60}, [8, 12, 4]),
        ({"cash_timing": "year_end"}, [0, 12, 12]),
        ({"payment_terms_days": 365}, [0, 11, 12, 1]),
    ],
)
def test_months_of_rent_paid_in_each_year(timing: dict[str, Any], paid: list[int]) -> None:
    """Rent of March 2027 to February 2029, by calendar year."""
    scenario, finance = finance_of(asked(finance=timing).answer, "on_demand")
    assert [int(y.cash / (730 * 50)) for y in finance.fiscal_years] == paid
    assert [int(y.cost / (730 * 50)) for y in finance.fiscal_years][:3] == [10, 12, 2]
    assert sum(scenario.cash_per_month[:24]) == 24 * 730 * 50  # due as ever


def test_later_payment_is_worth_less() -> None:
    rate = 0.21
    costs = {
        timing: float(
            asked(finance={"cash_timing": timing, "discount_rate_per_year": rate})
            .scenarios["on_demand"]  # type: ignore[index]
            .net_present_cost
        )
        for timing in ("month_start", "month_middle", "month_end", "year_end")
    }
    month = 730 * 50
    assert costs["month_end"] == pytest.approx(costs["month_start"] / (1 + rate) ** (1 / 12))
    assert costs["month_middle"] == pytest.approx(costs["month_start"] / (1 + rate) ** (1 / 24))
    assert costs["year_end"] == pytest.approx(12 * month / 1.21 + 12 * month / 1.21**2, abs=0.01)


def test_the_internal_rate_of_return_makes_both_plans_worth_the_same() -> None:
    _, finance = finance_of(asked().answer, "on_prem")
    rate = finance.internal_rate_of_return
    assert rate is not None
    assert 0 < rate < 1  # the discount rate of a request
    again = asked(finance={"discount_rate_per_year": rate}).answer
    _, at_rate = finance_of(again, "on_prem")
    assert abs(float(at_rate.net_present_value or 0)) < 5


@pytest.mark.parametrize(
    ("financing", "reason"),
    [
        ({**LOAN, "deposit_rate": 0.0, "months": 24}, "before any is spent, as with a loan"),
        ({**LEASE, "months": 24}, "before any is spent, as with a loan"),
    ],
)
def test_a_rate_of_return_that_means_nothing_is_absent_with_its_reason(
    financing: dict[str, Any], reason: str
) -> None:
    """Paid in instalments, a server saves the upfront payment of a reservation at first."""
    offers = catalog(offer("50"), offer("15", "reserved", term_months=12, upfront=Decimal(90_000)))
    own = {"servers": [SERVER], "lead_time_months": 0, "financing": financing}
    own |= {"network_storage_rate": 0, "spare_rate": 0}
    answer = compared(offers, hours=8 * 730, horizon_months=24, on_prem=own).answer
    _, finance = finance_of(answer, "on_prem")
    assert finance.internal_rate_of_return is None
    assert reason in finance.why_no_internal_rate
    assert ("Internal rate of return", f"none: {finance.why_no_internal_rate}") in list_returns(
        finance, "USD"
    )


def test_the_payback_of_annual_and_monthly_models_is_that_of_cumulative_cash() -> None:
    """200,000 USD with network and spares against 50 USD an hour less colocation and the rest,
    counted by hand from the cash of each month."""
    answer = asked().answer
    own, finance = finance_of(answer, "on_prem")
    assert finance.against is not None
    rent = answer.by_key[finance.against]
    months = answer.horizon_months
    saved = [
        r - o
        for r, o in zip(rent.cash_per_month[:months], own.cash_per_month[:months], strict=True)
    ]
    last = max(m for m in range(months) if sum(saved[: m + 1]) < 0)
    balance = sum(saved[: last + 1], Decimal(0))
    expected = last + 1 + float(-balance / saved[last + 1])
    assert finance.payback_months == pytest.approx(expected, abs=1e-3)
    assert finance.discounted_payback_months is not None
    assert finance.discounted_payback_months > expected


def test_a_lease_is_no_capital_and_a_loan_is() -> None:
    budget = {"capex_budget": 100}
    lease = asked(LEASE, constraints=budget, on_prem={"spare_rate": 0, "network_storage_rate": 0})
    assert any(line.category == "lease" for line in lease.scenarios["hybrid"].lines)  # type: ignore[index]
    loan = asked(LOAN, constraints=budget)
    assert not any(line.category == "capex" for line in loan.scenarios["hybrid"].lines)  # type: ignore[index]


def test_the_capital_of_a_fiscal_year_is_limited() -> None:
    years = [{"fiscal_year": 2027, "amount": 0}]
    found = asked(constraints={"capex_by_fiscal_year": years}, on_prem={"lead_time_months": 0})
    hybrid = found.answer.by_key["hybrid"]
    bought = [line.month for line in hybrid.lines if line.category == "capex"]
    assert all(month >= 10 for month in bought)
    both = [*years, {"fiscal_year": 2028, "amount": 0}, {"fiscal_year": 2029, "amount": 0}]
    none = asked(constraints={"capex_by_fiscal_year": both}).answer.by_key["hybrid"]
    assert not any(line.category == "capex" for line in none.lines)


def test_a_year_in_the_way_is_named() -> None:
    years = [{"fiscal_year": y, "amount": 1000} for y in (2027, 2028, 2029)]
    limits = {"purchase_options": ["spot"], "capex_by_fiscal_year": years}
    answer = asked(constraints=limits, on_prem={"lead_time_months": 0}).answer
    words = " ".join(answer.by_key["on_prem"].why_not)
    assert "a capital budget of fiscal year 2027 of at least" in words
    assert "instead of 1,000 USD" in words


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"on_prem": {"financing": {"method": "loan"}}}, "on_prem.financing.months"),
        ({"on_prem": {"financing": {"months": 12}}}, "on_prem.financing.months"),
        ({"on_prem": {"financing": LEASE | {"months": 90}}}, "on_prem.financing.months"),
        (
            {"on_prem": {"financing": LEASE | {"deposit_rate": 0.6, "balloon_rate": 0.5}}},
            "on_prem.financing.balloon_rate",
        ),
        ({"finance": {"fiscal_year_start_month": 13}}, "finance.fiscal_year_start_month"),
        ({"finance": {"cash_timing": "never"}}, "finance.cash_timing"),
        (
            {"constraints": {"capex_by_fiscal_year": [{"fiscal_year": 2027, "amount": 1}] * 2}},
            "constraints.capex_by_fiscal_year.1.fiscal_year",
        ),
    ],
)
def test_what_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _ = asked(**fields).answer
    assert caught.value.field == field

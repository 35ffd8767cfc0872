"""What the verdict says of capital budgets: what they leave, keep out and would be worth."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from planner.contract.answer.verdict import Alternative
from planner.costing.advice.verdict import describe_alternative
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

SERVERS: dict[str, Any] = {
    "servers": [{"server": "dgx-h100", "unit_price": 300_000}], "lead_time_months": 0,
}  # fmt: skip
"""Servers that cost a fifth of what renting two machines for three years does."""
NODES = catalog(offer("60"))
YEARS = "constraints.capex_by_fiscal_year"


def of(months: int = 36, **fields: Any) -> Compared:
    """Sixteen accelerators around the clock."""
    wanted = {"horizon_months": months, "on_prem": SERVERS, "cheaper_if": True}
    return compared(NODES, hours=16 * 730, **{**wanted, **fields})


def limited(*years: tuple[int, float], **limits: Any) -> Compared:
    """With a capital budget for each of these fiscal years, and other limits."""
    budgets = [{"fiscal_year": year, "amount": amount} for year, amount in years]
    return of(constraints={"capex_by_fiscal_year": budgets, **limits})


NO_LATER = ((2028, 0), (2029, 0))
"""The years in which servers would be bought if the first had no room for them."""
FREE = of()
FREE_PLAN = FREE.answer.verdict


def raised(results: Compared) -> Iterator[Alternative]:
    """What would be cheaper with a higher budget."""
    for one in results.answer.cheaper_if:
        if one.field.startswith(("constraints.capex", "constraints.total")):
            yield one


def price() -> Decimal:
    """Of one server with what belongs to it."""
    assert FREE_PLAN
    (part,) = [part for part in FREE_PLAN.decision if part.action == "buy"]
    assert part.due_at_start
    return part.due_at_start / 2


def test_a_year_that_has_no_room_for_cheaper_servers_is_named_with_what_they_save() -> None:
    results = limited((2027, 300_000), *NO_LATER)
    verdict = results.answer.verdict
    assert verdict
    assert FREE_PLAN
    assert {part.action for part in verdict.decision} == {"rent"}
    saved = round(verdict.total) - round(FREE_PLAN.total)
    assert verdict.reasons[0] == (
        "The capital budget of fiscal year 2027 (300,000 USD) has no room for a cheaper plan: buy "
        f"2 × DGX H100 in January 2027; "
        f"that would be {saved:,} USD cheaper, net of {FREE_PLAN.resale:,.0f} USD of resale."
    )
    one, *_ = raised(results)
    assert (one.field, one.value) == (f"{YEARS}.0.amount", round(price() * 2))
    assert one.change == f"a capital budget of fiscal year 2027 of {price() * 2:,.0f} USD"
    assert (one.plan, one.total) == (FREE_PLAN.headline, FREE_PLAN.total)
    assert one.saving > 0
    allowed = "300,000 USD of capital in fiscal year 2027"
    resale = f" Its total includes {FREE_PLAN.resale:,.0f} USD from reselling the servers."
    assert one.why == f"The request allows no more than {allowed}.{resale}"


def test_what_is_named_gives_the_plan_that_it_promises() -> None:
    one, *_ = raised(limited((2027, 300_000), *NO_LATER))
    again = limited((2027, float(str(one.value))), *NO_LATER)
    assert again.answer.verdict.headline == one.plan
    assert not list(raised(again))
    assert not any("capital" in reason for reason in again.answer.verdict.reasons)


def test_each_fiscal_year_stands_among_the_budgets_with_what_it_leaves() -> None:
    results = limited((2027, 900_000), (2028, 0), (2026, 5))
    first, second, before = results.answer.verdict.budget
    assert (first.kind, first.fiscal_year, first.planned) == ("capital", 2027, price() * 2)
    assert first.headroom == 900_000 - price() * 2
    assert "come to" in first.sentence
    assert (second.fiscal_year, second.planned, second.headroom) == (2028, 0, 0)
    assert second.sentence == "Nothing is bought in this fiscal year."
    assert before.sentence == "The plan has no month in this fiscal year."
    assert not list(raised(results))


def test_each_year_that_alone_is_in_the_way_is_named_the_largest_saving_first() -> None:
    results = limited((2027, 0), *NO_LATER)
    first, second, *_ = raised(results)
    assert [first.field, second.field] == [f"{YEARS}.0.amount", f"{YEARS}.1.amount"]
    assert first.saving > second.saving > 0
    assert "of fiscal year 2027 (0 USD)" in results.answer.verdict.reasons[0]
    assert not first.together_with


def test_budgets_that_only_together_are_in_the_way_are_raised_together() -> None:
    results = limited((2027, 0), *NO_LATER, capex_budget=1000)
    verdict = results.answer.verdict
    assert verdict.reasons[0].startswith(
        "The capital budget (1,000 USD) and the capital budget of fiscal year 2027 (0 USD) have "
        "no room for a cheaper plan"
    )
    (one,) = raised(results)
    least = round(price() * 2)
    assert (one.field, one.value) == ("constraints.capex_budget", least)
    assert list(one.together_with.items()) == [(f"{YEARS}.0.amount", least)]
    words = f"with constraints.capex_budget = {least} and {YEARS}.0.amount = {least}: "
    assert words in describe_alternative(one, "USD")


def test_a_budget_that_just_fits_to_the_cent_keeps_nothing_out() -> None:
    exact = price() * 2
    free = of(constraints={"capex_budget": float(exact)}).answer.verdict
    assert free.total == FREE_PLAN.total
    assert not any("apital" in one for one in free.reasons)
    short = of(constraints={"capex_budget": float(exact) - 0.01})
    assert short.answer.verdict.total > FREE_PLAN.total
    assert [one.value for one in raised(short)] == [round(exact)]

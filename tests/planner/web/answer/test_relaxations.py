"""A page without a plan: what would do, and the link that asks for it."""

from typing import Any

import pytest
from django.template import Context, Template
from django.utils.html import escape

from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from tests.planner.costing.market_of import offer
from tests.planner.web.asking import HOURS, get, text
from tests.planner.workspace import SEEN

ALONE = HOURS | {"on_prem.servers": "none"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "limits",
    [
        {"constraints.monthly_budget": "100"},
        {"constraints.total_budget": "100"},
        {"constraints.max_spot_share~pct": "10", "constraints.purchase_options": "spot"},
    ],
)
def test_the_link_asks_for_what_would_do(client: Any, prices: Any, limits: dict[str, str]) -> None:
    response = get(client, "plan", ALONE | limits)
    page = response.context["page"]
    shown = text(response)
    assert "No plan keeps to these limits." in shown
    assert page.loosenings
    for change, address in page.loosenings:
        assert f"Plan with {change if len(page.loosenings) > 1 else 'that'}" in shown
        wider = client.get(f"{response.request['PATH_INFO']}?{address}")
        assert wider.context["page"].recommended is not None, change


def test_reasons_that_are_sentences_share_a_line() -> None:
    line = Template("not possible: {{ why|reasons }}")
    why = ["no spot offer fits", "It is not known whether AWS sells spot for p5.", "none meets it"]
    assert line.render(Context({"why": why})) == (
        "not possible: no spot offer fits; it is not known whether AWS sells spot for p5; "
        "none meets it"
    )


QUOTA = {
    "constraints.quotas.0.provider": "aws", "constraints.quotas.0.accelerator": "H100",
    "constraints.quotas.0.max_accelerators": "0", "constraints.providers": "aws",
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("limits", [QUOTA, {"constraints.monthly_budget": "100"}])
def test_the_link_without_a_limit_gives_the_plan_that_it_promises(
    client: Any, prices: Any, limits: dict[str, str]
) -> None:
    response = get(client, "plan", ALONE | limits | {"cheaper_if": "true"})
    page = response.context["page"]
    shown = text(response)
    assert ("Possible if you allow it" in shown) == bool(page.chips)
    assert page.alternatives
    for one, address, total in page.alternatives:
        is_chip = one in [chip[0] for chip in page.chips]  # else a button lifts the limit
        assert (f"{one.change} <strong>{total}</strong>" in shown) == is_chip
        wider = client.get(f"{response.request['PATH_INFO']}?{address}").context["page"]
        assert wider.answer.verdict.headline == one.plan


def test_a_higher_capital_budget_is_a_link_that_asks_for_the_cheaper_plan(
    client: Any, prices: Any
) -> None:
    """Budgets of the plan and of every fiscal year, of which two are in the way together."""
    years = {
        f"constraints.capex_by_fiscal_year.{i}.{name}": value
        for i, year in enumerate(("2027", "2028", "2029"))
        for name, value in (("fiscal_year", year), ("amount", "0"))
    }
    limits = {**years, "constraints.capex_budget~k": "1", "cheaper_if": "true"}
    busy = {"workload.hours_per_month": "5840", "horizon_months": "36"}
    response = get(client, "plan", HOURS | busy | limits)
    page, shown = response.context["page"], text(response)
    assert "Capital budget of fiscal year 2027" in shown
    ((one, address, saved),) = [row for row in page.alternatives if row[0].together_with]
    assert f"{one.change} <strong>{saved}</strong>" in shown
    higher = client.get(f"{response.request['PATH_INFO']}?{address}").context["page"]
    assert higher.answer.verdict.headline == one.plan
    assert [use.budget for use in higher.answer.verdict.budget] == [one.value, one.value, 0, 0]


def test_the_link_to_other_clouds_gives_the_plan_that_it_promises(client: Any, prices: Any) -> None:
    """A rule whose value is a list stands in the address once for each of its values."""
    quoted = offer("9", provider="lambda", region="all-regions", instance_type="gpu_8x_h100_sxm5")
    publish(OfferBatch("lambda", (quoted,), as_of=SEEN), force=True, today=SEEN)
    response = get(client, "plan", HOURS | {"cheaper_if": "true"})
    lifted = {
        one.field: (address, one) for one, address, _ in response.context["page"].alternatives
    }
    address, one = lifted["constraints.partitions"]
    assert f'href="/plan/?{escape(address)}#answer"' in response.content.decode()
    wider = client.get(f"{response.request['PATH_INFO']}?{address}")
    assert wider.status_code == 200
    assert wider.context["page"].answer.verdict.headline == one.plan

"""The advice in words, and what it says of limits and of other demands."""

from __future__ import annotations

import pytest

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

PRICES = catalog(offer("55.04"), offer("30.00", "reserved", term_months=12), offer("20", "spot"))


@pytest.fixture(scope="module")
def answer():
    return compared(
        PRICES,
        hours=8 * 600,
        horizon_months=12,
        on_prem={"servers": []},
        constraints={"max_spot_share": 0.2, "allow_partial_nodes": True},
        explain=True,
    ).as_dict()


def test_purchases_are_said_with_their_months(answer) -> None:
    (bought,) = answer["explanation"]["purchases"]
    assert (bought["month"], bought["units"], bought["last"]) == (0, 1, 11)
    assert "2027-01: commit to 1 ×" in answer["explanation"]["words"][0]


def test_a_limit_is_worth_what_loosening_it_saves() -> None:
    """Half of the work must go to the dearer cloud: 8 more of quota bring it back."""
    prices = catalog(
        offer("50"), offer("80", provider="azure", region="westus3", instance_type="ND96")
    )
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 8}
    found = compared(
        prices, hours=16 * 730, horizon_months=12, on_prem={"servers": []}, explain=True,
        constraints={"quotas": [quota]}, finance={"discount_rate_per_year": 0},
    ).as_dict()  # fmt: skip
    (value,) = found["explanation"]["marginal_values"]
    assert (value["limit"], value["step"]) == ("quota aws nvidia-h100-80gb-sxm", 8)
    assert float(value["saving"]) == pytest.approx(730 * 12 * 30)


def test_at_less_demand_the_advice_is_to_rent(answer) -> None:
    points = answer["explanation"]["switch_points"]
    assert points
    assert points[0]["below"] == []
    assert 0.5 < points[0]["multiplier"] < 1
    assert any("renting alone" in words for words in answer["explanation"]["words"])


def test_without_being_asked_only_the_purchases_are_said() -> None:
    found = compared(PRICES, on_prem={"servers": []}).as_dict()["explanation"]
    assert found["switch_points"] == found["marginal_values"] == []


def test_the_reasons_name_what_to_do_and_what_it_saves() -> None:
    because = compared().as_dict()["recommendation"]["because"]
    assert any("Present value" in reason for reason in because)
    assert any("is cheaper" in reason for reason in because)


def test_limits_that_clash_are_named_with_the_least_that_would_do() -> None:
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 4}
    found = compared(
        catalog(offer("55.04")), hours=8 * 730, on_prem={"servers": []},
        constraints={"quotas": [quota]},
    )  # fmt: skip
    first, *more = found.scenarios["on_demand"].why_not
    assert first == (
        "it takes a quota for H100 SXM5 80 GB at AWS of at least 8 accelerators instead of "
        "4 accelerators"
    )
    assert "the quota for H100 SXM5 80 GB at AWS (4) excludes 1, whose machines are larger" in more


def test_a_negative_cost_is_still_advised() -> None:
    owned = [{"server": "dgx-h100", "units": 50, "bought": "2026-12"}]
    found = compared(hours=100, horizon_months=1, on_prem={"already_owned": owned})
    assert found.recommendation.scenario is not None


def test_a_demand_beyond_every_limit_is_not_called_renting() -> None:
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 8}
    prices = catalog(offer("50"), offer("20", "reserved", term_months=12))
    found = compared(
        prices, hours=8 * 730, horizon_months=12, on_prem={"servers": []}, explain=True,
        constraints={"quotas": [quota]},
    ).as_dict()["explanation"]  # fmt: skip
    (end,) = found["switch_points"]
    assert (len(end["below"]), end["above"]) == (1, None)
    assert end["limits"] == ["quota aws nvidia-h100-80gb-sxm"]
    assert found["words"][-1] == (
        "From 1.01 times the demand, there is no plan unless the quota for H100 SXM5 80 GB at "
        "AWS (now 8 accelerators) is raised."
    )


def test_a_plan_of_renting_alone_ends_too() -> None:
    """Nothing is begun on either side, yet one side has no plan: one more machine is too much."""
    found = compared(
        catalog(offer("50")), hours=8 * 730, horizon_months=12, on_prem={"servers": []},
        explain=True, constraints={"monthly_budget": 37_500},
    ).as_dict()["explanation"]  # fmt: skip
    (words,) = (w for w in found["words"] if "no plan" in w)
    assert words == (
        "From 1.01 times the demand, there is no plan unless the monthly budget (now 37,500 USD) "
        "is raised."
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("tax_rate", [0, 0.25])
@pytest.mark.parametrize("there", [[], [{"units": 1, "bought": "2025-01"}]])
def test_one_more_server_is_worth_what_asking_with_it_saves(there, tax_rate) -> None:
    """Its colocation, support, staff and idle power are due; its resale is not credited."""
    server = "hgx-h100-8"

    def asked(owned):
        return compared(
            catalog(offer("50")), hours=24 * 700, horizon_months=12, explain=True,
            on_prem={"servers": [] if there else [{"server": server}],
                     "already_owned": [{"server": server, **batch} for batch in owned]},
            finance={"tax_rate": tax_rate},
        )  # fmt: skip

    found = asked(there)
    more = asked([batch | {"units": 2} for batch in there] or [{"units": 1, "bought": "2027-01"}])
    advised = found.explained.key
    saved = found.scenarios[advised].cost - more.scenarios[advised].cost
    (value,) = (v for v in found.explanation.marginal_values if v.limit.startswith("one more"))
    assert value.saving == pytest.approx(saved, rel=1e-9)
    words = " ".join(found.as_dict()["explanation"]["words"])
    age = ", as old as the youngest one owned," if there else " in place"
    assert f"One more HGX H100 server (8x H100){age} would save this plan" in words
    assert "before its own price" in words
    assert "its resale included" not in words

"""What an answer says of limits: those unknown, without effect or below one node."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}}
RENT = offer("60")


def test_a_quota_of_an_unknown_provider_is_refused() -> None:
    quotas = [{"provider": "awss", "accelerator": "H100", "max_accelerators": 8}]
    with pytest.raises(InvalidInput, match=r"quotas.0.provider: 'awss'.*did you mean aws"):
        compared(constraints={"quotas": quotas})


def test_a_quota_that_limits_nothing_is_said() -> None:
    quotas = [
        {"provider": "aws", "accelerator": "H100", "max_accelerators": 80},
        {"provider": "aws", "region": "westus3", "accelerator": "H100", "max_accelerators": 8},
    ]
    found = compared(constraints={"quotas": quotas})
    words = "The quota for H100 SXM5 80 GB at AWS westus3 matches no price and limits nothing."
    assert words in found.warnings


def test_an_unknown_interconnect_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"constraints.interconnect: 'foo'.*nvlink"):
        compared(constraints={"interconnect": "foo"})


def test_a_limit_that_was_not_given_is_not_named() -> None:
    found = compared(catalog(RENT, offer("1", count=1)), constraints={"regions": ["us-east-1"],
                     "min_accelerator_memory_gib": 500}, **ALONE)  # fmt: skip
    words = " ".join(found.scenarios[ScenarioKey.ON_DEMAND].why_not)
    assert "min_accelerators_per_node" not in words
    assert "the minimum memory of an accelerator (500 GiB)" in words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"constraints": {"purchase_options": ["ondemand"]}}, "allowed are on_demand, spot"),
        ({"currency": "eur"}, "'eur' is not a currency code of three capitals, such as EUR"),
    ],
)
def test_what_is_allowed_is_said_in_words(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        compared(**fields)
    assert words in str(refusal.value)


def test_a_quota_below_one_node_is_said() -> None:
    """Half a node of eight is rented by nobody, where parts of machines are asked for either."""
    quotas = [{"provider": "aws", "accelerator": "H100", "max_accelerators": 4}]
    limits = {"quotas": quotas, "allow_partial_nodes": True}
    found = compared(catalog(RENT), 2000, constraints=limits, **ALONE)
    assert not found.scenarios[ScenarioKey.ON_DEMAND].feasible
    assert (
        "The quota for H100 SXM5 80 GB at AWS (4) is smaller than one machine of 1 offer, which "
        "is left out."
    ) in found.warnings


def test_a_quota_of_a_whole_node_needs_no_warning() -> None:
    quotas = [{"provider": "aws", "accelerator": "H100", "max_accelerators": 8}]
    found = compared(catalog(RENT), 2000, constraints={"quotas": quotas}, **ALONE)
    assert "can be rented whole" not in " ".join(found.warnings)


@pytest.fixture(scope="module")
def bundled() -> Catalog:
    return bundled_catalog()


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"geographies": ["switzerland"]}, "the choice of places (switzerland) excludes"),
        ({"countries": ["CH"]}, "the choice of countries (CH) excludes"),
    ],
)
def test_what_chose_the_places_is_named_and_nothing_is_said_to_meet_every_limit(
    bundled: Catalog, places: dict[str, Any], words: str
) -> None:
    """Spot of A100 is priced elsewhere alone."""
    found = compared(bundled, constraints=places, horizon_months=1, workload={
        "kind": "accelerator_hours", "accelerator": "nvidia-a100-80gb-sxm", "hours_per_month": 5840,
    }, **ALONE)  # fmt: skip
    why_not = found.scenarios[ScenarioKey.SPOT].why_not
    assert any(reason.startswith(words) for reason in why_not)
    assert re.fullmatch(r"none of [\d,]+ meets every limit", why_not[-1])


def test_a_region_named_after_its_cloud_is_not_named_twice(bundled: Catalog) -> None:
    found = compared(bundled, constraints={"regions": ["us-gov-west-1"]}, horizon_months=1,
        workload={"kind": "accelerator_hours", "accelerator": "nvidia-t4", "hours_per_month": 730},
        **ALONE)  # fmt: skip
    assert found.answer.verdict
    assert "in AWS GovCloud (US-West) in January 2027" in found.answer.verdict.headline


@pytest.mark.parametrize(("months", "words"), [(1, "horizon of 1 month"), (2, "of 2 months")])
def test_numbers_of_months_agree_with_their_word(months: int, words: str) -> None:
    found = compared(horizon_months=months, on_prem={"servers": [{"server": "dgx-h100"}]})
    assert found.scenarios[ScenarioKey.ON_PREM].why_not[0].endswith(words)


@pytest.mark.parametrize(
    ("fields", "is_said"),
    [
        ({"max_term_months": 12}, True),
        ({"max_term_months": 12, "purchase_options": ["on_demand"]}, False),
        ({}, False),
        ({"max_term_months": 36}, False),
    ],
)
def test_a_plan_says_why_it_commits_to_nothing(fields: dict[str, Any], is_said: bool) -> None:
    """Three years of work on demand at 60 USD an hour, though 36 months at 30 are sold; without
    the limit these are signed, and a year at 90 is in no plan."""
    year, long = (
        offer(price, "reserved", term_months=term, payment_option="no_upfront")
        for price, term in (("90", 12), ("30", 36))
    )
    found = compared(
        catalog(RENT, year, long), 8 * 730, horizon_months=36, constraints=fields, **ALONE
    )
    verdict = found.answer.verdict
    assert verdict is not None
    said = "Commitments of more than 12 months may not be signed, and none of up to 12 months"
    assert (said in " ".join(verdict.reasons)) is is_said
    is_limited = fields.get("max_term_months") == 12
    actions = [part.action for part in verdict.decision]
    assert actions == (["rent"] if is_limited else ["commit"])

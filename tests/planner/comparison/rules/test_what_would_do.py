"""Where no plan keeps to the limits: which of them lifted alone makes one possible, and for what.
And which plans are not worth naming, whatever they save."""

from typing import Any

import pytest

from planner.comparison import alternatives, compare
from planner.comparison.alternatives import NOTHING_TO_COMPARE
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import read_request
from planner.costing.advice.verdict import describe_alternative
from tests.planner.costing.market_of import H100, TODAY, catalog, offer, request_of

EAST, WEST = offer("40"), offer("60", provider="gcp", region="us-west1", instance_type="a3")
MARKET = catalog(EAST, WEST)
ALONE: dict[str, Any] = {"on_prem": {"servers": []}}
QUOTA = {"provider": "aws", "accelerator": H100, "max_accelerators": 0}


def asked(*offers: Any, hours: float = 5840, **fields: Any) -> ComparisonAnswer:
    request = request_of(hours, cheaper_if=True, **(ALONE | fields))
    return compare(request, catalog(*offers) if offers else MARKET, today=TODAY)


def lifted(answer: ComparisonAnswer) -> dict[str, Any]:
    return {one.field: one for one in answer.cheaper_if}


def test_each_limit_that_alone_stands_in_the_way_is_named_the_cheapest_plan_first() -> None:
    """24 months of 730 h at 40 or 60 USD an hour."""
    answer = asked(constraints={"providers": ["aws"], "quotas": [QUOTA], "max_term_months": 12})
    assert answer.recommendation.scenario is None
    first, second = answer.cheaper_if
    assert (first.field, first.value, first.total) == ("constraints.quotas", (), 700_800)
    assert (second.field, second.value, second.total) == ("constraints.providers", None, 1_051_200)
    assert first.plan.startswith("Rent 1 × p5.48xlarge (8 × H100) on demand in AWS")
    for one in (first, second):
        assert (one.saving, one.why_no_saving) == (None, NOTHING_TO_COMPARE)
        assert one.why == "The request sets this limit."


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"constraints": {"total_budget": 100}}, "constraints.total_budget", None),
        ({"constraints": {"monthly_budget": 100}}, "constraints.monthly_budget", None),
        ({"constraints": {"interconnect": "ici"}}, "constraints.interconnect", None),
        ({"constraints": {"min_providers": 3}}, "constraints.min_providers", None),
        ({"constraints": {"purchase_options": ["reserved"]}}, "constraints.purchase_options",
         None),
        ({"constraints": {"regions": ["us-gov-west-1"]}}, "constraints.regions", None),
    ],
)  # fmt: skip
def test_what_is_lifted_alone_gives_the_plan_it_promises(
    fields: dict[str, Any], field: str, value: Any
) -> None:
    government = offer("90", region="us-gov-west-1", count=1, accelerator="nvidia-t4")
    prices = (EAST, WEST, government)
    answer = asked(*prices, **fields)
    assert answer.recommendation.scenario is None
    one = lifted(answer)[field]
    assert one.value == value
    rest = {k: v for k, v in fields["constraints"].items() if k != field.partition(".")[2]}
    again = asked(*prices, constraints=rest)
    assert again.verdict is not None
    assert (one.plan, one.total) == (again.verdict.headline, again.verdict.total)


STATED = {
    "providers": (["aws"], "any provider"),
    "regions": (["us-east-1"], "any region"),
    "geographies": (["us"], "any place"),
    "countries": (["US"], "any country"),
    "partitions": (["aws"], "every part of the clouds that the rules allow"),
    "accelerators": (["H100"], "any accelerator that can do the work"),
    "purchase_options": (["on_demand"], "any way of paying"),
    "min_accelerator_memory_gib": (40, "accelerators with any amount of memory"),
    "min_accelerators_per_node": (8, "machines of any size"),
    "interconnect": ("nvlink", "any interconnect"),
    "max_spot_share": (0.1, "any share of spot"),
    "quotas": ([QUOTA], "quotas as large as needed"),
    "max_term_months": (12, "commitments of any length"),
    "max_provider_share": (0.5, "any share for one provider"),
    "min_providers": (2, "a single provider"),
    "power_kw": (1, "any amount of power for own servers"),
    "rack_units": (1, "any number of rack units for own servers"),
    "capex_budget": (1, "any amount of capital"),
    "capex_by_fiscal_year": (
        [{"fiscal_year": 2027, "amount": 1}], "any amount of capital in each year",
    ),
    "monthly_budget": (1, "any monthly budget"),
    "total_budget": (1, "any total budget"),
}  # fmt: skip


def test_every_limit_has_words_for_being_lifted() -> None:
    limits = {name: value for name, (value, _) in STATED.items()}
    request = read_request(request_of(5840, constraints=limits))
    lifted = list(alternatives._list_constraints(request, STATED))
    assert [one.field.removeprefix("constraints.") for one in lifted] == list(STATED)
    for one, (_, words) in zip(lifted, STATED.values(), strict=True):
        assert one.shown.partition(" within ")[0] == words
        assert not getattr(one.lift(request).constraints, one.field.partition(".")[2])


def test_two_limits_of_which_neither_is_enough_alone_are_not_named() -> None:
    limits = {"quotas": [QUOTA, {**QUOTA, "provider": "gcp"}], "total_budget": 100}
    assert asked(constraints=limits).cheaper_if == ()


def test_it_says_how_to_ask_for_it() -> None:
    answer = asked(constraints={"providers": ["aws"], "quotas": [QUOTA]})
    words = [describe_alternative(one, "USD") for one in answer.cheaper_if]
    assert words[0].startswith("Possible without constraints.quotas: Rent 1 × p5.48xlarge")
    assert words[0].endswith("700,800 USD in all, as stated. The request sets this limit.")


def test_dozens_of_small_machines_are_no_alternative_to_a_few_large_ones() -> None:
    """Sixteen GPUs on machines of one for half the price: 16 machines beside 2 is eight times."""
    many, spot = offer("2.5", "spot", count=1, instance_type="small"), "workload.interruptible"
    assert spot not in lifted(asked(EAST, many, hours=11_680))
    assert spot in lifted(asked(EAST, many, hours=5840))


def test_a_job_is_not_spread_over_machines_without_a_network() -> None:
    """It would spend its time waiting, which no saving counts."""
    job = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 5840,
           "accelerators_per_job": 8}  # fmt: skip
    few = offer("2.5", count=1, instance_type="small")
    assert "constraints.allow_any_node" not in lifted(asked(EAST, few, workload=job))


def test_one_kind_is_named_beside_what_is_owned_where_three_would_be_cheapest() -> None:
    """Eight H200 for the most of it and single B200 for the rest are two kinds too many."""
    eight = offer("20", instance_type="eight", accelerator="nvidia-h200-141gb-sxm")
    single = offer("6", count=1, instance_type="single", accelerator="nvidia-b200")
    there = {"servers": [], "already_owned": [{"server": "hgx-h100-8", "bought": "2026-06"}]}
    (one,) = asked(eight, single, hours=2.3 * 5840, on_prem=there).cheaper_if
    assert (one.field, one.value) == ("constraints.accelerators", (H100, eight.accelerator))


def test_where_nothing_else_is_possible_many_small_machines_are() -> None:
    small = offer("2.5", count=1, instance_type="small")
    answer = asked(small, hours=11_680, constraints={"quotas": [QUOTA]})
    assert answer.recommendation.scenario is None
    assert lifted(answer)["constraints.quotas"].plan.startswith("Rent 16 × small")


@pytest.mark.parametrize(
    ("tokens", "card", "is_named"),
    [
        (2e9, "amd-mi300x", False),
        (2e11, "amd-mi300x", True),
        (1e11, "google-tpu-v6e", False),  # saves 17,424 USD
        (4e11, "aws-trainium2", True),
    ],
)
def test_porting_has_to_pay_for_itself(tokens: float, card: str, is_named: bool) -> None:
    """A port to ROCm costs 7,500 USD, one to TPU or Trainium 30,000 USD;
    TPU had been named for savings of 1 to 227 USD."""
    other = offer("4", provider="gcp", region="us-west1", instance_type="8t", accelerator=card)
    work = {"kind": "training", "parameters": 7e9, "tokens": tokens}
    fields = ALONE | {"horizon_months": 12, "cheaper_if": True, "workload": work}
    answer = compare(request_of(1, **fields), catalog(EAST, other), today=TODAY)
    named = lifted(answer).get("workload.software")
    assert (named is not None) is is_named
    if named is not None:
        porting = 7_500 if card.startswith("amd") else 30_000
        assert named.saving > porting
        said = f"Porting costs some {porting:,} USD, which the saving does not count"
        assert said in named.why

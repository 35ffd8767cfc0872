"""Edition 2 of the rules: what a plan may choose from, and what a commitment costs."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog, Region
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

MONTH = 730
TERM = {"term_months": 36, "payment_option": "no_upfront"}


def ruled(prices: Catalog, hours: Any = MONTH * 8, **fields: Any) -> Compared:
    return compared(prices, hours, on_prem={"servers": []}, **fields)


def work(hours: Any = MONTH * 8, **fields: Any) -> dict[str, Any]:
    plain = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours}
    return plain | fields


def used(found: Compared, key: ScenarioKey = ScenarioKey.HYBRID) -> set[str]:
    scenario = found.scenarios[key]
    sources = {*scenario.used_hours, *scenario.units_started}
    return {found.inputs.by_key[one].instance_type for one in sources}


def test_one_accelerator_of_a_large_machine_costs_the_machine():
    found = ruled(catalog(offer("55.04")), MONTH)

    assert found.scenarios[ScenarioKey.ON_DEMAND].total_cost == 24 * MONTH * Decimal("55.04")


def test_whole_machines_follow_the_peak_of_each_month():
    peaks = [8] * 12 + [16] * 12
    stated = work(MONTH * 8, peak_accelerators=peaks)
    found = ruled(catalog(offer("55.04")), workload=stated)
    used_hours = next(iter(found.scenarios[ScenarioKey.ON_DEMAND].used_hours.values()))

    assert used_hours.tolist() == pytest.approx([MONTH] * 24)
    assert found.inputs.peak.tolist() == peaks


def test_every_payment_of_a_commitment_counts():
    found = ruled(catalog(offer("55.04"), offer("20", "reserved", **TERM)))
    hybrid = next(s for s in found.answer.scenarios if s.key is ScenarioKey.HYBRID)

    assert hybrid.total_cost == 36 * MONTH * 20
    assert hybrid.within_horizon == 24 * MONTH * 20
    assert hybrid.owed_after == 12 * MONTH * 20


def test_no_commitment_outlasts_a_horizon_that_all_must_end_within():
    prices = catalog(offer("55.04"), offer("20", "reserved", **TERM))

    assert used(ruled(prices, term_end="within")) == {"p5.48xlarge"}
    assert not ruled(prices, term_end="within").scenarios[ScenarioKey.HYBRID].units_started


@pytest.mark.one_in(4)
@pytest.mark.parametrize("horizon", range(1, 12))
def test_short_plans_take_no_longer_term(horizon: int):
    prices = catalog(offer("55.04"), offer("34", "reserved", term_months=12), offer("55.05"))
    plan = ruled(prices, horizon_months=horizon).scenarios[ScenarioKey.HYBRID]

    assert not plan.units_started


@pytest.mark.parametrize(
    "fields",
    [
        {"workload": work(interruptible=True)},
        {"constraints": {"max_spot_share": 1.0}},
        {"constraints": {"purchase_options": ["spot", "on_demand"]}},
    ],
)
def test_spot_is_recommended_with_consent(fields: dict[str, Any]):
    prices = catalog(offer("55.04"), offer("10", "spot", zone="us-east-1a"))
    found = ruled(prices, **{"workload": work()} | fields)
    hybrid, spot = (found.scenarios[k] for k in (ScenarioKey.HYBRID, ScenarioKey.CLOUD))
    assert hybrid.total_cost == spot.total_cost


def test_an_unknown_partition_is_refused_with_those_there_are():
    with pytest.raises(InvalidInput, match="commercial"):
        ruled(catalog(offer("55.04")), constraints={"partitions": ["moon"]})


def test_country_groups_limit_places():
    regions = {
        ("aws", "eu-central-1"): Region("europe", "DE"),
        ("aws", "eu-west-2"): Region("europe", "GB"),
    }
    german, british = offer("60", region="eu-central-1"), offer("50", region="eu-west-2")
    prices = Catalog.of([german, british], regions=regions)

    def total(**limits: Any) -> Decimal:
        return ruled(prices, constraints=limits).scenarios[ScenarioKey.HYBRID].total_cost

    assert total(geographies=["europe"]) == 24 * MONTH * 50
    assert total(geographies=["eu"]) == 24 * MONTH * 60
    assert total(geographies=["uk"]) == 24 * MONTH * 50
    assert total(countries=["DE"]) == 24 * MONTH * 60


def test_a_machine_that_is_not_sold_on_demand_takes_no_commitment():
    small = offer("1", "committed_use", count=1, provider="gcp", term_months=12)
    prices = catalog(offer("55.04"), small)

    assert used(ruled(prices)) == {"p5.48xlarge"}


def test_code_for_cuda_runs_on_nvidia_alone():
    training = {"kind": "training", "parameters": 3e9, "tokens": 1e10}
    tpu = offer("0.1", provider="gcp", accelerator="google-tpu-v5e", instance_type="ct5lp-8")
    prices = catalog(offer("55.04"), tpu)

    def machines(**more: Any) -> set[str]:
        request = {"workload": training | more, "on_prem": {"servers": []}}
        return used(compared(prices, **request))

    assert machines() == {"p5.48xlarge"}
    assert machines(software="any") == {"ct5lp-8"}


def test_servers_of_the_list_run_the_software_of_the_code():
    runs = [{"start": "2027-01", "deadline": "2029-12"}]
    training = {"kind": "training", "parameters": 7e9, "tokens": 3e13, "runs": runs}
    training |= {"software": "xla"}
    tpu = offer("60", provider="gcp", accelerator="google-tpu-v5e", instance_type="ct5lp-8")
    named = {"server": "dgx-h100"}

    def bought(**on_prem: Any) -> bool:
        own = {"lead_time_months": 0, **on_prem}
        request = {"workload": training, "on_prem": own, "horizon_months": 36}
        plan = compared(catalog(offer("55.04"), tpu), **request).scenarios[ScenarioKey.HYBRID]
        return plan.feasible and plan.buys

    assert not bought()
    assert bought(servers=[named])  # whoever names a server knows what runs on it


@pytest.mark.parametrize(
    ("accelerators", "workload", "constraints", "machine"),
    [
        (16, {}, {"interconnect": "nvlink"}, "p5.48xlarge"),
        (16, {}, {}, "p5.6xlarge"),
        (512, {}, {}, "p5.48xlarge"),
        (512, {"accelerators_per_job": 1}, {}, "p5.6xlarge"),
        (512, {}, {"min_accelerators_per_node": 1}, "p5.6xlarge"),
        (512, {}, {"allow_any_node": True}, "p5.6xlarge"),
    ],
)
def test_linked_jobs_and_large_orders_run_on_nodes_of_eight(
    accelerators: int, workload: dict[str, Any], constraints: dict[str, Any], machine: str
) -> None:
    prices = catalog(offer("55.04"), offer("6", count=1))
    hours = work(MONTH * accelerators, **workload)
    assert used(ruled(prices, workload=hours, constraints=constraints)) == {machine}


def test_jobs_are_packed_on_machines():
    found = ruled(catalog(offer("55.04")), workload=work(MONTH * 6, accelerators_per_job=3))
    twelve = ruled(catalog(offer("55.04")), workload=work(MONTH * 12, accelerators_per_job=3))

    machine_months = 24 * MONTH * Decimal("55.04")
    assert found.scenarios[ScenarioKey.ON_DEMAND].total_cost == machine_months
    assert twelve.scenarios[ScenarioKey.ON_DEMAND].total_cost == 2 * machine_months

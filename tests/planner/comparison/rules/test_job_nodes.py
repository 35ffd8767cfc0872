"""Edition 2: sized work runs on nodes that hold it and are joined as its layout needs."""

from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

MONTH = 730
A10G, A100, V100 = "nvidia-a10g", "nvidia-a100-80gb-sxm", "nvidia-v100-16gb-pcie"
TRAINING = {"kind": "training", "parameters": 70e9, "tokens": 2e9, "optimizer": "lora"}
SPREAD = {"kind": "training", "parameters": 7e9, "tokens": 3e11, "optimizer": "lora"}
"""A run on more cards than one machine holds."""
LIFTED = {"constraints": {"allow_any_node": True}}


def machine(slug: str, count: int, price: str, **fields: Any) -> Any:
    name = f"{slug}.{count}"
    return offer(price, count=count, accelerator=slug, **({"instance_type": name} | fields))


def trained(*prices: Any, **fields: Any) -> Compared:
    plain = {"workload": TRAINING, "on_prem": {"servers": []}}
    return compared(catalog(*prices), **(plain | fields))


def rented(found: Compared) -> set[str]:
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    return {found.inputs.by_key[key].instance_type for key in plan.used_hours}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("network_gbps", "taken"), [(25.0, "fast"), (100.0, "slow"), (None, "slow")]
)
def test_a_job_over_many_nodes_needs_a_network(network_gbps: float | None, taken: str) -> None:
    work = {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 16 * MONTH,
        "accelerators_per_job": 16,
    }  # fmt: skip
    prices = (
        machine(H100, 8, "20", instance_type="slow", network_gbps=network_gbps),
        machine(H100, 8, "30", instance_type="fast", network_gbps=3200.0),
    )
    assert rented(compared(catalog(*prices), workload=work)) == {taken}
    assert rented(compared(catalog(*prices), workload=work, **LIFTED)) == {"slow"}
    small = work | {"accelerators_per_job": 8}
    assert rented(compared(catalog(*prices), workload=small)) == {"slow"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("count", "network_gbps", "taken"),
    [(4, None, "joined"), (4, 100.0, "bare"), (8, None, "bare"), (8, 50.0, "joined")],
)
def test_a_small_machine_of_unknown_network_has_none(
    count: int, network_gbps: float | None, taken: str
) -> None:
    """A training on few cards takes more of them than such a machine holds."""
    prices = (
        machine(A10G, count, f"{count * 0.1}", instance_type="bare", network_gbps=network_gbps),
        machine(A10G, 8, "16", instance_type="joined", network_gbps=100.0),
    )
    asked = {"workload": SPREAD, "horizon_months": 12}
    found = trained(*prices, **asked)
    assert found.demand.run_width > 8
    assert rented(found) == {taken}
    assert rented(trained(*prices, **asked, **LIFTED)) == {"bare"}


def test_a_run_over_many_machines_needs_their_network() -> None:
    """A replica fits two cards; a run on sixteen joins eight such machines, if they are."""
    slow = machine(A100, 2, "2", network_gbps=50.0, instance_type="slow")
    fast = machine(A100, 2, "9", network_gbps=200.0, instance_type="fast")
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
    asked = {"workload": work, "on_prem": {"servers": []}, "horizon_months": 12}
    assert rented(compared(catalog(slow, fast), **asked)) == {"fast"}
    few = asked | {"workload": work | {"tokens": 1e8}}
    one = compared(catalog(slow, fast), **few)
    assert one.demand.run_width > 2 or rented(one) == {"slow"}
    lifted = asked | LIFTED
    assert rented(compared(catalog(slow, fast), **lifted)) == {"slow"}


def test_a_run_that_is_said_to_take_one_card_leaves_the_rest_of_a_machine_idle() -> None:
    """Eight cards would end it in an eighth of the time."""
    work = TRAINING | {"parameters": 1e9, "accelerator": A100}
    free, stated = (
        trained(machine(A100, 8, "20"), workload=work | job, cheaper_if=False)
        for job in ({}, {"accelerators_per_job": 1})
    )
    plans = [one.advised for one in (free, stated)]
    hours = [sum(sum(plan.used_hours.values())) for plan in plans if plan]
    assert hours[1] == pytest.approx(8 * hours[0], rel=1e-3)


@pytest.mark.parametrize(
    "apart",
    [
        {"runs": [{"start": "2027-01", "deadline": "2027-01", "count": 10}]},
        {
            "runs": [{"start": "2027-01", "deadline": "2027-01"}],
            "sweep": {"trials": 99, "share": 1},
        },
    ],
)
def test_runs_side_by_side_and_trials_need_no_network_between_them(apart: dict[str, Any]) -> None:
    """Ten runs at once, or a hundred trials, on cards that each hold one; a single run that takes
    as many cards at once has to be joined."""
    fields = {"parameters": 1e9, "tokens": 3e9, "optimizer": "lora"}
    work = TRAINING | fields | apart | {"accelerator": A100}
    prices = machine(A100, 1, "2", network_gbps=10.0), machine(A100, 8, "20")
    assert rented(trained(*prices, workload=work)) == {f"{A100}.1"}
    one = {"tokens": 3e11, "runs": [{"start": "2027-01", "deadline": "2027-01"}]}
    joined = TRAINING | fields | one | {"accelerator": A100}
    assert rented(trained(*prices, workload=joined)) == {f"{A100}.8"}

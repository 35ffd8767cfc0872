"""Consumer cards, nodes for what is sized; how to lift each."""

from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

MONTH = 730


RTX_4090 = {"kind": "accelerator_hours", "accelerator": "RTX 4090", "hours_per_month": MONTH * 4}
NODE, DESK = "server-4x-rtx-4090", "workstation-1x-rtx-4090"


def owning(*servers: str, **fields: Any) -> Compared:
    bought = {"servers": [{"server": name} for name in servers]}
    plain = {"workload": RTX_4090, "on_prem": bought, "horizon_months": 36}
    rented = offer("12", count=4, accelerator="nvidia-rtx-4090", instance_type="desk.4")
    return compared(catalog(rented), **(plain | fields))


def test_consumer_cards_are_owned_in_workstations_alone() -> None:
    found = owning(NODE, DESK)
    assert [server.slug for server in found.preparation.servers.to_buy] == [DESK]
    plan = found.scenarios[ScenarioKey.ON_PREM]
    assert {line.category.value for line in plan.lines}.isdisjoint({"colocation"})
    assert any("has consumer cards" in warning for warning in found.warnings)


def test_consumer_cards_in_a_data_centre_can_be_allowed() -> None:
    lifted = owning(NODE, constraints={"allow_consumer_in_datacentre": True})
    plan = lifted.scenarios[ScenarioKey.ON_PREM]
    assert any(line.category.value == "colocation" for line in plan.lines)
    assert not any("consumer cards" in warning for warning in lifted.warnings)


OTHER_CARD = {
    "server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 4,
    "unit_price": 100_000, "power_kw": 3,
}  # fmt: skip
CARDS = OTHER_CARD | {"accelerator": "RTX 4090", "unit_price": 12_000}


@pytest.mark.parametrize(
    ("servers", "own", "expected"),
    [
        ([CARDS], {"already_owned": [{"server": "Box"}]}, set()),
        ([], {"already_owned": [{"server": NODE}]}, set()),
        ([{"server": DESK}], {}, set()),
        ([CARDS], {"colocation_per_kw_month": 100}, {"colocation"}),
        ([CARDS], {"staff_fte_per_server": 0.1}, {"staff"}),
        ([OTHER_CARD], {}, {"colocation", "staff"}),
    ],
)
def test_a_machine_at_a_desk_pays_no_colocation_or_staff_unless_told(
    servers: list[dict[str, Any]], own: dict[str, Any], expected: set[str]
) -> None:
    card = servers[0].get("accelerator", "RTX 4090") if servers else "RTX 4090"
    work = RTX_4090 | {"accelerator": card}
    found = owning(workload=work, on_prem={"servers": servers, **own})
    sources = [source for source in found.inputs.sources if source.is_owned]
    charges = [
        charge.category
        for source in sources
        for charge in (*source.unit_charges, *source.fixed_streams)
    ]
    assert {*charges} & {"colocation", "staff"} == expected


def arrival(**on_prem: Any) -> int:
    """Month in which the first workstation of a plan serves."""
    bought = {"servers": [{"server": DESK}], **on_prem}
    (source,) = (s for s in owning(on_prem=bought).inputs.sources if s.is_owned)
    assert source.term is not None
    return source.term.lead_months


def test_workstations_come_from_stock_unless_a_lead_time_is_given() -> None:
    assert arrival() == 0
    assert arrival(lead_time_months=2) == 2
    assert arrival(lead_time_months=2, workstation_lead_time_months=1) == 1

"""Choices that stand in some months alone: providers, servers on sale, capital."""

from typing import Any

import numpy as np
import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import Compared, compared

NORTH = {"label": "North", "provider": "north", "usd_per_hour": 20}
SOUTH = {"label": "South", "provider": "south", "usd_per_hour": 24}
YEAR = {"label": "North, a year", "provider": "north", "usd_per_hour": 10,
        "purchase_option": "reserved", "term_months": 12}  # fmt: skip
BOX = {"server": "custom", "label": "Box", "accelerator": "H100 SXM", "accelerator_count": 8,
       "unit_price": 80_000, "running_cost_per_hour": 0, "lead_time_months": 0}  # fmt: skip


def asked(*offers: dict[str, Any], months: int = 12, **fields: Any) -> Compared:
    plain = {"accelerator": "H100 SXM", "accelerator_count": 8, "purchase_option": "on_demand"}
    fields = {"on_prem": {"servers": []}, "risk": {"samples": 500}, **fields}
    return compared(
        hours=8 * 730, horizon_months=months, use_catalog=False,
        custom_offers=[plain | one for one in offers], **fields,
    )  # fmt: skip


def total(one: Compared) -> float:
    assert one.answer.recommended is not None
    return float(one.answer.recommended.require_total())


def test_a_provider_is_used_in_its_months_and_another_beside() -> None:
    until = {"provider_months": [{"provider": "north", "last": "2027-06"}]}
    assert total(asked(NORTH, SOUTH)) == pytest.approx(12 * 730 * 20)
    assert total(asked(NORTH, SOUTH, constraints=until)) == pytest.approx(6 * 730 * (20 + 24))
    since = {"provider_months": [{"provider": "north", "first": "2027-03"}]}
    assert total(asked(NORTH, SOUTH, constraints=since)) == pytest.approx(730 * (10 * 20 + 2 * 24))


def test_months_that_leave_no_plan_are_named_as_the_limit() -> None:
    until = {"provider_months": [{"provider": "north", "last": "2027-06"}]}
    answer = asked(NORTH, constraints=until, cheaper_if=True).answer
    assert "constraints.provider_months" in [one.field for one in answer.cheaper_if]


def test_a_provider_may_be_used_in_each_of_several_spans() -> None:
    spans = [{"provider": "north", "last": "2027-02"}, {"provider": "north", "first": "2027-11"}]
    one = asked(NORTH, SOUTH, constraints={"provider_months": spans})
    assert total(one) == pytest.approx(730 * (4 * 20 + 8 * 24))


def test_no_contract_goes_on_after_the_last_month_of_its_provider() -> None:
    short, whole = ({"provider_months": [{"provider": "north", "last": last}]}
                    for last in ("2027-11", "2027-12"))  # fmt: skip
    assert total(asked(YEAR, SOUTH, constraints=short)) == pytest.approx(12 * 730 * 24)
    assert total(asked(YEAR, SOUTH, constraints=whole)) == pytest.approx(12 * 730 * 10)


def started(one: Compared) -> dict[str, list[int]]:
    plan = next(p for p in one.scenarios.values() if p.key.value == "hybrid")
    return {key: np.flatnonzero(n).tolist() for key, n in plan.units_started.items()}


def test_servers_are_bought_in_the_months_with_capital() -> None:
    bought = {"on_prem": {"servers": [BOX]}}
    assert started(asked(NORTH, months=36, **bought)) == {"server:Box": [0]}
    named = {"capex_months": ["2027-04", "2028-04"]}
    assert started(asked(NORTH, months=36, constraints=named, **bought)) == {"server:Box": [3]}
    with pytest.raises(InvalidInput, match="capex_months"):
        asked(NORTH, months=36, constraints={"capex_months": ["2020-01"]}, **bought)


def test_work_that_slips_does_not_miss_the_month_with_capital() -> None:
    """Where it comes a month later the server is bought as planned, for work that then begins."""
    one = asked(NORTH, months=36, on_prem={"servers": [BOX]},
                constraints={"capex_months": ["2027-04"]},
                risk={"samples": 500, "slip_months_sd": 2, "price_sd": 0})  # fmt: skip
    assert one.choice is not None
    assert one.simulation is not None
    at = next(
        i for i, c in enumerate(one.choice.candidates) if "server:Box" in c.plan.units_started
    )
    slips = one.simulation.outcomes.slip > 0
    assert 0.2 < slips.mean() < 0.6
    paid = one.choice.present[at]
    assert paid[slips].mean() == pytest.approx(paid[~slips].mean(), rel=0.15)


def test_a_machine_that_is_not_out_yet_has_a_month_and_a_speed() -> None:
    new = BOX | {"available_from": "2027-07", "speed": 2.0, "accelerator_count": 4}
    one = asked(NORTH, months=36, on_prem={"servers": [new]})
    assert started(one) == {"server:Box": [6]}
    own = next(p for p in one.scenarios.values() if p.key.value == "on_prem")
    assert own.feasible
    slow = asked(NORTH, months=36, on_prem={"servers": [new | {"speed": 1.0}]})
    rents = [each.answer.break_even[0].rent_per_hour for each in (slow, one)]
    assert rents[1] == 2 * rents[0]
    assert sum(row.hours_used for row in own.capacity if row.source == "server:Box") > 0


def test_a_server_that_is_never_on_sale_changes_nothing_for_another() -> None:
    later = BOX | {"label": "Later", "lead_time_months": 4}
    never = BOX | {"label": "Never", "available_from": "2030-01"}

    def own(*servers: dict[str, Any], **fields: Any) -> Any:
        plans = asked(NORTH, on_prem={"servers": list(servers), **fields}).scenarios.values()
        return next(plan for plan in plans if plan.key.value == "on_prem")

    assert own(later).feasible
    assert own(later, never).total_cost == own(later).total_cost
    there = [{"server": "dgx-h100", "units": 1, "bought": "2025-06"}]
    assert own(never, already_owned=there).feasible
    assert own(never).why_not == ("no server may be ordered in any month of the plan",)


@pytest.mark.parametrize(
    "months", [{}, {"first": "2027-03", "last": "2027-02"}, {"provider": "nrth", "last": "2027-03"}]
)
def test_months_that_say_nothing_are_refused(months: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="provider_months"):
        asked(NORTH, constraints={"provider_months": [{"provider": "north", **months}]})

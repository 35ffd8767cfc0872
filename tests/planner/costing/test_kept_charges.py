"""What a changed figure leaves alone is kept, and is what it would be if it were priced anew."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from planner.comparison.preparation import Preparation
from planner.costing.model_inputs import OWNING_ALONE, WORTH_ALONE, ModelInputs
from tests.planner.comparison.compared import compared

SERVER = {
    "server": "custom", "label": "box", "unit_price": 250_000, "accelerator": "H100",
    "accelerator_count": 8, "power_kw": 10, "idle_power_kw": 2,
}  # fmt: skip
LOAN = {"method": "loan", "months": 24, "interest_rate_per_year": 0.08}
OWNED = {"server": "dgx-h100", "units": 1, "bought": "2025-06"}


def prepared(**fields: Any) -> Preparation:
    return compared(
        workload={
            "kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": [0, 4000] * 12,
            **fields.pop("work", {}),
        },
        on_prem={"servers": [SERVER], "already_owned": [OWNED], "financing": LOAN},
        finance={"cloud_support_rate": 0.03, "tax_rate": 0.2},
        **fields,
    ).preparation  # fmt: skip


def plain(value: Any) -> Any:
    """A value that can be compared: arrays as lists, sources as what they charge."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def anew(inputs: ModelInputs) -> ModelInputs:
    return replace(inputs)


def assert_same(kept: ModelInputs) -> None:
    fresh = anew(kept)
    assert plain(kept.sources) == plain(fresh.sources)
    assert plain(kept.problem.units) == plain(fresh.problem.units)
    assert plain(kept.problem.rental_options) == plain(fresh.problem.rental_options)


@pytest.fixture(scope="module", params=[False, True], ids=["no data", "data"])
def inputs(request: pytest.FixtureRequest) -> ModelInputs:
    data = {"storage_gib": 5000, "egress_gib_per_month": 100} if request.param else {}
    return prepared(data=data).inputs


@pytest.mark.one_in(2)
def test_every_assumption_may_move(inputs: ModelInputs) -> None:
    for name in sorted(OWNING_ALONE | WORTH_ALONE | {"staff_cost_per_year"}):
        value = inputs.assumptions[name]
        changed = inputs.with_assumption(name, value * 0.5 + (value == 0) * 0.1)
        kept = vars(changed).copy()
        assert_same(changed)
        assert ("server_sources" in kept) == (name in WORTH_ALONE)
        assert ("priced_rentals" in kept) == (name in WORTH_ALONE | OWNING_ALONE)

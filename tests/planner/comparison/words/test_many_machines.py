"""More machines by the hour at once than clouds hold ready: of which plan they are."""

from __future__ import annotations

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

BY_HOUR = offer("55.04")
BY_DATE = offer(
    "40", "dws_calendar_mode", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"
)


def warned(*offers: object) -> list[str]:
    found = compared(
        catalog(*offers),  # type: ignore[arg-type]
        hours=70 * 8 * 730,
        horizon_months=2,
        on_prem={"servers": []},
    )
    return [text for text in found.warnings if "no cloud keeps that many ready" in text]


def test_the_machines_of_the_advised_plan_are_counted() -> None:
    (text,) = warned(BY_HOUR)
    assert text.startswith("70 × p5.48xlarge at once: no cloud")


def test_those_of_another_plan_are_said_to_be() -> None:
    """Before, 100 × p5.48xlarge stood without a word beside advice to reserve 49 machines."""
    (text,) = warned(BY_HOUR, BY_DATE)
    assert text.startswith("Another plan than the advised one rents 70 × p5.48xlarge at once: no")

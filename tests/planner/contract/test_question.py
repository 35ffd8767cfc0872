"""One line asks for a comparison; what is not understood is named with the form."""

from typing import Any

import pytest

from planner.contract.request.comparison import read_request
from planner.contract.request.question import FORM, read_question
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.place_names import GEOGRAPHIES

LINES: list[tuple[str, int, dict[str, Any]]] = [
    ("8 H100 for 12 months in Europe", 8, {"constraints": {"geographies": ["europe"]}}),
    ("8  H100 for a year", 8, {"horizon_months": 12}),
    ("eight H100s for the next two quarters", 8, {"horizon_months": 6}),
    ("1,000 H100 for half a year", 1000, {"horizon_months": 6}),
    ("two DGX H100 for 1.5 years", 16, {"horizon_months": 18}),
    ("16 A100 80GB SXM for 3 years from 2027-01", 16, {"start": "2027-01", "horizon_months": 36}),
    ("8xH100 for a year starting January 2027", 8, {"start": "2027-01"}),
    ("8 H100 in the US for 6 months", 8, {"constraints": {"countries": ["US"]}}),
    ("8 H100 for 6 months in DE or the uk", 8, {"constraints": {"countries": ["DE", "GB"]}}),
    ("8 H100 for 6 months in EMEA", 8, {
        "constraints": {"geographies": ["europe", "middle-east", "africa"]}}),
    ("1 T4 for 1 month in eu-central-1", 1, {"constraints": {"regions": ["eu-central-1"]}}),
    ("1 T4 for 1 month in Frankfurt", 1, {"constraints": {
        "regions": ["eu-central-1", "germanywestcentral", "europe-west3", "eu-de"]}}),
    ("8 H100 for a year at Google Cloud", 8, {"constraints": {"providers": ["gcp"]}}),
    ("8 H100 for a year at Google", 8, {"constraints": {"providers": ["gcp"]}}),
    ("8 H100 for a year on Amazon", 8, {"constraints": {"providers": ["aws"]}}),
    ("8 H100 for a year at microsoft", 8, {"constraints": {"providers": ["azure"]}}),
    ("8 H100 on demand for a year", 8, {"constraints": {"purchase_options": ["on_demand"]}}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "count", "fields"), LINES)
def test_a_line_is_a_request(line: str, count: int, fields: dict[str, Any]) -> None:
    request = read_question(line)
    assert request.items() >= fields.items()
    assert request["workload"]["hours_per_month"] == 730 * count
    assert read_request(request).workload.given_peak == count  # type: ignore[union-attr]


@pytest.mark.parametrize("line", ["4x H100 spot for 2 weeks", "four H100 on spot for 14 days"])
def test_days_are_the_first_of_a_month_and_spot_may_be_interrupted(line: str) -> None:
    request = read_question(line)
    assert request["horizon_months"] == 1
    assert request["workload"]["hours_per_month"] == 4 * 24 * 14
    assert request["workload"]["interruptible"]
    assert request["constraints"] == {"purchase_options": ["spot"]}
    longer = read_question("8 H100 for 6 weeks")
    assert longer["workload"]["hours_per_month"] == [8 * 730, 8 * (42 * 24 - 730)]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("some H100 for 12 months", "'some' is not a number"),
        ("0 H100 for 12 months", "'0' is not a number"),
        ("8 for 12 months", "'8' does not say which accelerators"),
        ("two DGX GB200 for 12 months", "'two DGX GB200' does not say which accelerators"),
        ("8 H100", "does not say for how many months"),
        ("8 H100 for 0 weeks", "'0 weeks'"),
        ("8 H100 for 0 months", "'0 months'"),
        ("8 H100 for 12 months for 3 months", "'for' stands twice"),
        ("8 H100 for 12 months in Atlantis", "'Atlantis'"),
        ("8 H100 for 12 months in Virginia", "'Virginia'"),
        ("8 H100 for 12 months in Europe or the US", "name one kind alone"),
        ("8 H100 for 12 months from May", "'May'"),
        ("8 H100 for 12 months at Nimbus", "'Nimbus' is no provider that is known: Akamai,"),
        ("8 H100 for 12 months please", "'12 months please'"),
    ],
)
def test_what_is_not_understood_is_named_with_the_form(line: str, named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_question(line)
    assert refused.value.field == "question"
    assert named in refused.value.message
    assert FORM in refused.value.message


def test_an_unknown_accelerator_is_refused_with_those_close_to_it() -> None:
    with pytest.raises(InvalidInput, match="H100"):
        read_question("8 H1000 for 12 months")


def test_parts_of_the_world_are_those_of_the_catalog() -> None:
    assert set(GEOGRAPHIES) == bundled_catalog().known_names("geographies")

"""Places in words that people use are answered with those that a request takes."""

from typing import Any

import pytest

from gpu_cost_planner import compare
from pricing.common.invalid_input import InvalidInput

WORK = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}
FRANKFURT = "regions eu-central-1 (AWS), germanywestcentral (Azure), europe-west3 (Google Cloud)"


def refusal_of(**limits: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        compare({"start": "2027-01", "workload": WORK, "constraints": limits})
    return caught.value


@pytest.mark.parametrize("field", ["geographies", "countries", "regions"])
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("usa", "the country US (constraints.countries)"),
        ("United States", "the country US (constraints.countries)"),
        ("canada", "the country CA (constraints.countries)"),
        ("APAC", "the geographies asia, oceania (constraints.geographies)"),
        ("frankfurt", f"the {FRANKFURT} (constraints.regions)"),
        ("oregon", "the region us-west-2 (AWS) (constraints.regions)"),
    ],
)
def test_a_place_in_words_is_answered_with_its_name(field: str, word: str, meant: str) -> None:
    refusal = refusal_of(**{field: [word]})
    assert refusal.field == f"constraints.{field}"
    assert refusal.message == f"{word!r} is not known here; did you mean {meant}?"


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"countries": ["eu"]}, "the geography eu (constraints.geographies)"),
        ({"countries": ["uk"]}, "the country GB"),
        ({"geographies": ["mars"]}, "they hold africa, asia"),
        ({"countries": ["mars"]}, "allowed are AE, AT"),
    ],
)
def test_what_is_no_place_is_refused_with_what_is(places: dict[str, Any], words: str) -> None:
    assert words in refusal_of(**places).message


def test_regions_are_found_by_the_first_words_of_their_code() -> None:
    message = refusal_of(regions=["us-east"]).message
    for region in ("us-east-1 (AWS)", "us-east-2 (AWS)", "us-east4 (Google Cloud)"):
        assert region in message
    assert "wl1" not in message


def test_data_at_a_provider_that_there_is_not_is_answered_with_all_there_are() -> None:
    home = {"provider": "moon", "region": "us-east-1"}
    with pytest.raises(InvalidInput) as caught:
        compare({"start": "2027-01", "workload": WORK, "data": {"storage_gib": 1, "home": home}})
    expected = "'moon' is not known; allowed are aws, azure, gcp, ibm, nebius, scaleway, on_prem"
    assert (caught.value.field, caught.value.message) == ("data.home.provider", expected)

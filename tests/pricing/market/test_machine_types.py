"""The shipped tables of machines: exact fractions, known accelerators, no guesses."""

import datetime as dt
from fractions import Fraction

import pytest

from pricing.market import accelerators
from pricing.market.machine_types import all_machine_types, attached_machine_types, find, tpu_slices


@pytest.mark.parametrize("provider", ["azure", "gcp"])
def test_every_accelerator_is_known_to_the_catalog(provider: str) -> None:
    known = {one.slug for one in accelerators.all_accelerators()}
    used = {
        machine_type.accelerator
        for machine_type in all_machine_types(provider).values()
        if machine_type.accelerator
    }
    used |= {machine_type.accelerator for machine_type in attached_machine_types()}
    used |= {one.accelerator for one in tpu_slices()}
    assert used - known == set()


@pytest.mark.parametrize(
    ("instance_type", "count"),
    [
        ("Standard_NV6ads_A10_v5", Fraction(1, 6)),
        ("Standard_NV12ads_A10_v5", Fraction(1, 3)),
        ("Standard_NV18ads_A10_v5", Fraction(1, 2)),
        ("Standard_NV36ads_A10_v5", Fraction(1)),
        ("Standard_NV72ads_A10_v5", Fraction(2)),
        ("Standard_NV4as_v4", Fraction(1, 8)),
        ("Standard_NV4ads_V710_v5", Fraction(1, 6)),
        ("Standard_NG8ads_V620_v1", Fraction(1, 4)),
        ("Standard_NC8ads_A10_v4", Fraction(1, 2)),
        ("Standard_NC24lds_xl_RTXPRO6000BSE_v6", Fraction(1, 4)),
        ("g4-standard-6", Fraction(1, 8)),
    ],
)
def test_trap_4_a_fraction_of_an_accelerator_is_exact(instance_type: str, count: Fraction) -> None:
    machine_type = find("gcp" if instance_type.startswith("g4") else "azure", instance_type)
    assert machine_type is not None
    assert machine_type.accelerator_count == count


@pytest.mark.parametrize("provider", ["azure", "gcp"])
def test_a_count_that_no_source_gives_is_absent_with_its_reason(provider: str) -> None:
    unknown = [
        s for s in all_machine_types(provider).values() if s.accelerator and not s.accelerator_count
    ]
    assert all(machine_type.note for machine_type in unknown)


def test_an_fpga_is_no_accelerator_of_ours() -> None:
    machine_type = find("azure", "STANDARD_NP10S")
    assert machine_type is not None
    assert (machine_type.accelerator, machine_type.accelerator_count) == ("", None)
    assert "FPGA" in machine_type.note


def test_trap_11_a_retired_machine_is_known_by_its_day() -> None:
    machine_type = find("azure", "Standard_NC6")
    assert machine_type is not None
    assert not machine_type.retired(dt.date(2023, 9, 5))
    assert machine_type.retired(dt.date(2023, 9, 6))


def test_an_n1_host_carries_only_what_it_may_and_can_feed() -> None:
    names = {machine_type.instance_type for machine_type in attached_machine_types()}
    assert "n1-standard-8+1xnvidia-tesla-v100" in names
    assert "n1-standard-16+1xnvidia-tesla-v100" not in names, "12 vCPUs at most"
    assert "n1-standard-4+4xnvidia-tesla-t4" not in names, "one vCPU for each accelerator"


def test_tpu_v2_to_v4_count_cores_and_are_priced_by_four_chips() -> None:
    for one in tpu_slices():
        cores = int(one.name.rpartition("-")[2])
        per_chip = 1 if one.name.startswith(("v5litepod", "v6e")) else 2
        assert one.chips * per_chip == cores
        assert one.chips % one.chips_per_unit == 0
        assert (one.chips_per_unit == 4) == one.name.startswith(("v2", "v3", "v4"))

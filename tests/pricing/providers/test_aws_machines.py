"""DescribeInstanceTypes → machines: which accelerator, and exactly how much of it."""

import datetime as dt
from fractions import Fraction
from typing import Any

import pytest

from pricing.ingest.provider import SkippedRow
from pricing.market.machine_types import MachineType
from pricing.providers.aws.rows import MachineLookup, network_gbps
from tests.pricing.servers.aws import described
from tests.pricing.servers.aws_market import BOXES, STRANGERS, Box

DAY = dt.date(2026, 9, 12)


def learned(info: dict[str, Any]) -> MachineType | SkippedRow | None:
    machines = MachineLookup()
    machines.add_description(info)
    return machines.find(info["InstanceType"])


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_ec2_and_our_table_agree(box: Box) -> None:
    by_ec2, by_table = learned(described(box)), MachineLookup().find(box.name)
    assert isinstance(by_ec2, MachineType)
    assert isinstance(by_table, MachineType)
    assert (by_ec2.accelerator, by_ec2.accelerator_count) == (box.slug, box.count)
    assert (by_table.accelerator, by_table.accelerator_count) == (box.slug, box.count)
    assert by_ec2.vcpus == by_table.vcpus
    assert by_ec2.memory_gib == by_table.memory_gib
    assert by_ec2.retired(DAY) == by_table.retired(DAY) == box.retired


@pytest.mark.parametrize(
    ("part", "logical", "count"),
    [(0.125, 1, Fraction(1, 8)), (0.25, 1, Fraction(1, 4)), (0.333, 2, Fraction(2, 3))],
)
def test_trap_4_parts_of_an_accelerator_are_exact(
    part: float, logical: int, count: Fraction
) -> None:
    gpu = {"Name": "L4", "Count": 0, "LogicalGpuCount": logical, "GpuPartitionSize": part,
           "MemoryInfo": {"SizeInMiB": int(22888 * part)}}  # fmt: skip
    machine = learned({"InstanceType": "g9f.large", "GpuInfo": {"Gpus": [gpu]}})
    assert isinstance(machine, MachineType)
    assert machine.accelerator_count == count


def test_trap_4_a_count_of_0_is_looked_up() -> None:
    """An older SDK does not know the size of a part."""
    gpu = {"Name": "L4", "Count": 0, "MemoryInfo": {"SizeInMiB": 22888}}
    machine = learned({"InstanceType": "g6f.large", "GpuInfo": {"Gpus": [gpu]}})
    assert isinstance(machine, MachineType)
    assert machine.accelerator_count == Fraction(1, 8)


def test_trap_4_a_count_of_0_is_never_guessed() -> None:
    gpu = {"Name": "L4", "Count": 0, "MemoryInfo": {"SizeInMiB": 22888}}
    found = learned({"InstanceType": "g9f.large", "GpuInfo": {"Gpus": [gpu]}})
    assert found == SkippedRow("number of accelerators unknown", "g9f.large")


@pytest.mark.parametrize(
    ("name", "mib", "slug"),
    [
        ("V100", 16384, "nvidia-v100-16gb-sxm"),
        ("V100", 32768, "nvidia-v100-32gb-sxm"),
        ("A100", 40960, "nvidia-a100-40gb-sxm"),
        ("A100", 81920, "nvidia-a100-80gb-sxm"),
        ("H200", 144384, "nvidia-h200-141gb-sxm"),
        ("A10G", 24576, "nvidia-a10g"),
        ("A10G", 22888, "nvidia-a10g"),
        ("K80", 12288, "nvidia-k80"),
        ("Trainium", 32768, "aws-trainium"),
        ("Trainium2", 524288, "aws-trainium2"),
    ],
)
def test_a_device_goes_by_name_and_memory(name: str, mib: int, slug: str) -> None:
    gpu = {"Name": name, "Count": 8, "MemoryInfo": {"SizeInMiB": mib}}
    machine = learned({"InstanceType": "x1.8xlarge", "GpuInfo": {"Gpus": [gpu]}})
    assert isinstance(machine, MachineType)
    assert machine.accelerator == slug


def test_a_memory_that_fits_no_device_is_reported() -> None:
    gpu = {"Name": "V100", "Manufacturer": "NVIDIA", "Count": 8, "MemoryInfo": {"SizeInMiB": 65536}}
    found = learned({"InstanceType": "x1.8xlarge", "GpuInfo": {"Gpus": [gpu]}})
    assert found == SkippedRow("unknown accelerator", "NVIDIA V100 (x1.8xlarge)")


def test_inferentia_is_listed_twice_and_counted_once() -> None:
    machine = learned(described(next(box for box in BOXES if box.name == "inf2.xlarge")))
    assert isinstance(machine, MachineType)
    assert machine.accelerator_count == 1


def test_trap_8_a_stranger_is_reported() -> None:
    assert learned(described(STRANGERS[0])) == SkippedRow(
        "unknown accelerator", "NVIDIA Z900 (z9.48xlarge)"
    )
    assert learned(described(STRANGERS[1])) == SkippedRow(
        "no deep-learning accelerator", "f2.6xlarge: FPGA"
    )


@pytest.mark.parametrize(
    ("text", "gbps"),
    [
        ("400 Gigabit", 400),
        ("4x 100 Gigabit", 400),
        ("16x 200 Gigabit", 3200),
        ("Up to 12500 Megabit", 12.5),
        ("Up to 12.5 Gigabit", 12.5),
        ("1600 Gbps EFAv4", 1600),
        ("High", None),
        ("NA", None),
    ],
)
def test_bandwidth_is_read_from_its_text(text: str, gbps: float | None) -> None:
    assert network_gbps(text) == gbps

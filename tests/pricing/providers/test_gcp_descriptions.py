"""What a SKU is, read from its words: each spelling that the catalog was seen to use."""

import pytest

from pricing.market.offers import PurchaseOption
from pricing.providers.gcp.offers import find_exclusion, normalize, parse_component, parse_terms

OD, SPOT = PurchaseOption.ON_DEMAND, PurchaseOption.SPOT
CUD, FLEX = PurchaseOption.COMMITTED_USE, PurchaseOption.DWS_FLEX_START
CALENDAR = PurchaseOption.DWS_CALENDAR_MODE

SEEN = [
    # description, group, usage type, component, option, months
    ("Nvidia Tesla A100 GPU running in Americas", "GPU", "OnDemand", "gpu:a100-40gb", OD, 0),
    ("Nvidia Tesla A100 80GB GPU running in Iowa", "GPU", "OnDemand", "gpu:a100-80gb", OD, 0),
    ("Nvidia Tesla A100 80GB GPU attached to DWS Defined Duration VMs running in Americas", "GPU",
     "OnDemand", "gpu:a100-80gb", FLEX, 0),
    ("Nvidia H100 80GB GPU running in Iowa", "GPU", "OnDemand", "gpu:h100", OD, 0),
    ("Nvidia H100 80GB Mega GPU attached to Spot Preemptible VMs running in Tokyo", "GPU",
     "Preemptible", "gpu:h100-mega", SPOT, 0),
    ("Nvidia H100 Mega 80GB GPU running in Iowa", "GPU", "OnDemand", "gpu:h100-mega", OD, 0),
    ("Nvidia H100 80GB Plus GPU running in Iowa", "GPU", "OnDemand", "gpu:h100-mega", OD, 0),
    ("H200 141GB GPU running in Belgium", "GPU", "OnDemand", "gpu:h200", OD, 0),
    ("RTX 6000 96GB running in Oregon", "GPU", "OnDemand", "gpu:rtx-pro-6000", OD, 0),
    ("A4 Nvidia B200 (1 gpu slice) running in Netherlands", "GPU", "OnDemand", "slice:b200", OD, 0),
    ("Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas", "GPU", "OnDemand",
     "slice:b200", SPOT, 0),
    ("DWS Calendar Mode A4 Nvidia B200 (1 gpu slice)", "GPU", "OnDemand", "slice:b200", CALENDAR,
     0),
    ("A4X Nvidia GB200 (1 gpu slice) running in Iowa", "GPU", "OnDemand", "slice:gb200", OD, 0),
    ("Nvidia L4 GPU running in Americas", "GPU", "OnDemand", "gpu:l4", OD, 0),
    ("Commitment v1: Nvidia Tesla T4 GPU running in Americas for 1 Year", "GPU", "Commit1Yr",
     "gpu:t4", CUD, 12),
    ("Commitment v1: Nvidia Tesla T4 GPU running in Americas for 3 Years", "GPU", "Commit3Yr",
     "gpu:t4", CUD, 36),
    ("Commitment v1: Nvidia Tesla P4 GPU running in Iowa for 3 Year", "GPU", "Commit3Yr", "gpu:p4",
     CUD, 36),
    ("A2 Instance Core running in Americas", "CPU", "OnDemand", "core:A2", OD, 0),
    ("Commitment v1: A2 Cpu in APAC for 1 Year", "CPU", "Commit1Yr", "core:A2", CUD, 12),
    ("Commitment v1: Cpu in Montreal for 1 Year", "CPU", "Commit1Yr", "core:N1", CUD, 12),
    ("Commitment v1: Ram in Northern Virginia for 3 Years", "RAM", "Commit3Yr", "ram:N1", CUD, 36),
    ("N1 Predefined Instance Core running in Virginia", "N1Standard", "OnDemand", "core:N1", OD, 0),
    ("Spot Preemptible A2 Instance Ram running in Japan", "RAM", "Preemptible", "ram:A2", SPOT, 0),
    ("Spot Preemptible A3Plus Instance Ram running in Tokyo", "RAM", "Preemptible", "ram:A3Plus",
     SPOT, 0),
    ("A3Ultra Instance Core running in Iowa", "CPU", "OnDemand", "core:A3Ultra", OD, 0),
    ("DWS Defined Duration A3 Core running in Americas", "CPU", "OnDemand", "core:A3", FLEX, 0),
    ("SSD backed Local Storage", "LocalSSD", "OnDemand", "ssd", OD, 0),
    ("SSD backed Local Storage attached to Spot Preemptible VMs in Iowa", "LocalSSD", "OnDemand",
     "ssd", SPOT, 0),
    ("DWS Defined Duration SSD backed Local Storage running in Americas", "LocalSSD", "OnDemand",
     "ssd", FLEX, 0),
    ("Commitment v1: Local SSD In Iowa for 1 Year", "LocalSSD", "Commit1Yr", "ssd", CUD, 12),
    ("TpuV2 running in Americas", "TPU", "OnDemand", "tpu:v2:device", OD, 0),
    ("TpuV2 Pod running in Americas", "TPU", "OnDemand", "tpu:v2:pod", OD, 0),
    ("Tpu-v3 Pod Preemptible in Netherlands", "TPU", "OnDemand", "tpu:v3:pod", SPOT, 0),
    ("TpuV4 Pod running in Oklahoma", "TPU", "OnDemand", "tpu:v4:pod", OD, 0),
    ("TpuV5e running in Americas", "TPU", "OnDemand", "tpu:v5e:chip", OD, 0),
    ("TpuV5p running in Columbus", "TPU", "OnDemand", "tpu:v5p:chip", OD, 0),
    ("Commitment v2: TpuV5p in Columbus for 3 Years", "TPU", "Commit3Yr", "tpu:v5p:chip", CUD, 36),
    ("TpuV6e attached to Spot Preemptible VMs running in Columbus", "TPU", "Preemptible",
     "tpu:v6e:chip", SPOT, 0),
    ("DWS Defined Duration V6e running in Columbus", "TPU", "OnDemand", "tpu:v6e:chip", FLEX, 0),
    ("Reserved V6e TPU in Columbus in Calendar Mode", "TPU", "OnDemand", "tpu:v6e:chip", CALENDAR,
     0),
    ("Tpu7x running in Iowa", "TPU", "OnDemand", "tpu:v7:chip", OD, 0),
]  # fmt: skip


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seen", SEEN, ids=[seen[0] for seen in SEEN])
def test_a_description_is_understood(seen: tuple[str, str, str, str, PurchaseOption, int]) -> None:
    description, group, usage, name, option, months = seen
    text = normalize(description)
    part, bought = parse_component(text, group), parse_terms(text, usage)
    assert part is not None
    assert not isinstance(bought, str), bought
    assert (part.name, bought.option, bought.months) == (name, option, months)
    assert find_exclusion(text) == ""


@pytest.mark.parametrize(
    ("description", "group"),
    [
        ("C3 Sole Tenancy Instance Core running in Americas", "CPU"),
        ("Sole Tenancy Instance Ram running in Jakarta", "RAM"),
        ("Reserved M4 Core in Americas", "CPU"),
        ("T2D AMD Instance Ram running in Singapore", "RAM"),
        ("E2 Instance Core running in Americas", "CPU"),
        ("C4D Instance Local SSD running in Americas", "LocalSSD"),
        ("Storage PD Capacity in Iowa", "PDStandard"),
        ("Nvidia L40S GPU running in Iowa", "GPU"),
        ("Nvidia Tesla M100 GPU running in Iowa", "GPU"),
    ],
)
def test_what_is_none_of_ours_is_no_component(description: str, group: str) -> None:
    assert parse_component(normalize(description), group) is None


@pytest.mark.parametrize(
    ("description", "usage", "why"),
    [
        ("Reserved Nvidia Tesla A100 80GB GPU in Virginia", "OnDemand", "placeholder"),
        ("Nvidia L4 GPU running in Iowa", "Commit1Yr", "contradicts"),
        ("Nvidia L4 GPU running in Iowa", "Preemptible", "contradicts"),
        ("Commitment v1: Nvidia L4 GPU in Iowa for 1 Year", "Commit3Yr", "contradicts"),
        ("Commitment v1: Nvidia L4 GPU in Iowa", "OnDemand", "without a known term"),
    ],
)
def test_words_and_type_that_do_not_agree_give_no_terms(
    description: str, usage: str, why: str
) -> None:
    found = parse_terms(normalize(description), usage)
    assert isinstance(found, str)
    assert why in found

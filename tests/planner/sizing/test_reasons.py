"""Why a card is or is not for a work, rule by rule."""

import pytest

from planner.sizing.estimate import estimate

SEVEN = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
TINY = {"kind": "training", "parameters": 1e8, "tokens": 1e8, "optimizer": "lora"}


@pytest.fixture(scope="module")
def candidates():
    return {one.accelerator: one for one in estimate({"workload": SEVEN}).answer.candidates}


def reasons(candidates, slug):
    return " | ".join(candidates[slug].reasons)


def test_memory_comes_first_and_names_both_precisions(candidates):
    first = candidates["nvidia-h100-80gb-sxm"].reasons[0]
    assert first.startswith("memory: weights are 28 GB in fp32 and 14 GB in half precision")


def test_bandwidth_arithmetic_and_links_follow(candidates):
    words = [r.split(":")[0] for r in candidates["nvidia-h100-80gb-sxm"].reasons]
    assert words == ["memory", "bandwidth", "arithmetic", "links"]


def test_cards_on_pcie_say_what_their_traffic_takes(candidates):
    assert "PCIe or the network" in reasons(candidates, "nvidia-l40s")
    assert "of the working time" in reasons(candidates, "nvidia-l40s")


def test_consumer_cards_are_told_apart(candidates):
    found = reasons(candidates, "nvidia-rtx-4090")
    assert "without error correction" in found
    assert "for a desk" in found
    assert any("GeForce" in note for note in candidates["nvidia-rtx-4090"].notes)


@pytest.mark.parametrize("slug", ["google-tpu-v5e", "aws-trainium2", "intel-gaudi3"])
def test_other_chips_say_what_porting_takes(candidates, slug):
    assert "ASIC" in reasons(candidates, slug)


def test_an_fpga_or_an_asic_is_named_where_it_is_the_better_choice():
    works = ({**SEVEN, "tokens": 2e13}, TINY)
    large, small = (estimate({"workload": w, "accelerator": "H100"}).answer for w in works)
    assert "worth comparing" in large.other_chips[0]
    assert "not for" in small.other_chips[0]
    assert "larger than what its chip holds" in large.other_chips[1]
    assert "below a millisecond" in small.other_chips[1]
    assert all("port" in chip for chip in (*large.other_chips, *small.other_chips))


def test_retired_and_inference_only_cards_are_marked(candidates):
    assert candidates["nvidia-k80"].why_not.startswith("retired")
    assert candidates["aws-inferentia2"].why_not == "built for inference, not for training"


@pytest.mark.parametrize(
    ("workload", "accelerators", "tier"),
    [(TINY, 1, "light"), (SEVEN, 8, "complex"), (SEVEN, 64, "very_demanding")],
)
def test_work_has_a_tier_and_its_cards(workload, accelerators, tier):
    request = {"workload": workload, "accelerator": "H100 SXM", "accelerators": accelerators}
    answer = estimate(request).answer
    assert answer.tier == tier
    assert answer.tier_cards

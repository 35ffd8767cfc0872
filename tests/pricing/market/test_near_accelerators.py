"""Accelerators that are not known: what is named in their place, and how it differs."""

import re

import pytest

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import candidates, find, find_near, get, near_accelerators, resolve

NEAR = near_accelerators()


def test_each_is_refused_with_one_that_is_known():
    for near in NEAR:
        assert find(near.name) is None
        with pytest.raises(InvalidInput) as refused:
            resolve(near.name)
        words = refused.value.message
        assert "is not a known accelerator: it is " in words
        assert f"name {get(near.instead).slug} in its place" in words
        assert re.search(r"20(1\d|2\d)$", near.source)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("NVIDIA H800", "nvidia-h100-80gb-sxm"),
        ("H800-SXM5-80GB", "nvidia-h100-80gb-sxm"),
        ("NVIDIA H800 PCIe", "nvidia-h100-80gb-pcie"),
        ("NVIDIA A800-SXM4-80GB", "nvidia-a100-80gb-sxm"),
        ("H20 96GB", "nvidia-a100-80gb-sxm"),
        ("L20 48GB", "nvidia-l40"),
        ("GeForce RTX 4070", "nvidia-rtx-4070-ti"),
        ("NVIDIA GH200 NVL32", "nvidia-h100-80gb-sxm"),
        ("GH200 NVL4", "nvidia-h100-80gb-sxm"),
        ("DGX GH200", "nvidia-h100-80gb-sxm"),
    ],
)
def test_a_size_and_a_form_may_stand_beside_the_name(name, instead):
    assert find_near(name).instead == instead


def test_no_known_name_is_read_as_one_that_is_not():
    known = [one for slug in ("h100", "a100", "4070 ti", "gh200") for one in candidates(slug)]
    assert known
    assert all(find_near(one.name) is None for one in known)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA GH200 480GB", "nvidia-gh200-96gb"),
        ("NVIDIA B300 SXM6 AC", "nvidia-b300"),
        ("HL-325L", "intel-gaudi3"),
        ("DGX Spark", "nvidia-gb10"),
    ],
)
def test_names_that_drivers_and_vendors_print_are_read(name, slug):
    assert resolve(name).slug == slug


@pytest.mark.parametrize("name", ["Ascend 910B", "Rubin", "Groq", "Cambricon MLU370"])
def test_nothing_unlike_is_proposed(name):
    with pytest.raises(InvalidInput, match="a name is such as H100 SXM5 80 GB"):
        resolve(name)

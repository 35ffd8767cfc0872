"""Names, aliases and datasheet values of every known accelerator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators
from pricing.market.accelerators import Accelerator, all_accelerators, find, get, resolve
from tests.properties import examples

KNOWN_NAMES = {
    # the contract's own examples
    "H100": "nvidia-h100-80gb-sxm",
    "A100-80GB": "nvidia-a100-80gb-sxm",
    "Tesla V100 16 GB": "nvidia-v100-16gb-sxm",
    "v5litepod": "google-tpu-v5e",
    # AWS
    "GRID K520": "nvidia-k520",
    "Gaudi HL-205": "intel-gaudi",
    "Qualcomm AI100": "qualcomm-ai100",
    "Radeon Pro V520": "amd-radeon-pro-v520",
    "T4g": "nvidia-t4g",
    "A10G": "nvidia-a10g",
    "RTX PRO Server 6000": "nvidia-rtx-pro-6000-blackwell-server",
    "RTX PRO 4500 Blackwell": "nvidia-rtx-pro-4500-blackwell",
    "Inferentia": "aws-inferentia",
    "Inferentia2": "aws-inferentia2",
    "Trainium": "aws-trainium",
    "Trainium2": "aws-trainium2",
    # Azure
    "NVIDIA A100 80GB PCIe": "nvidia-a100-80gb-pcie",
    "NVIDIA H100 NVL": "nvidia-h100-94gb-nvl",
    "NVIDIA Tesla K80": "nvidia-k80",
    "NVIDIA Tesla M60": "nvidia-m60",
    "NVIDIA Tesla P40": "nvidia-p40",
    "NVIDIA V100 32GB": "nvidia-v100-32gb-sxm",
    "NVIDIA RTX PRO 6000 Blackwell SE": "nvidia-rtx-pro-6000-blackwell-server",
    "AMD Instinct MI25": "amd-mi25",
    "AMD Instinct MI300X": "amd-mi300x",
    "AMD Radeon PRO V710": "amd-radeon-pro-v710",
    # GCP
    "nvidia-tesla-t4": "nvidia-t4",
    "nvidia-tesla-k80": "nvidia-k80",
    "nvidia-tesla-p100": "nvidia-p100-16gb-pcie",
    "nvidia-tesla-a100": "nvidia-a100-40gb-sxm",
    "nvidia-a100-80gb": "nvidia-a100-80gb-sxm",
    "nvidia-h100-mega-80gb": "nvidia-h100-80gb-sxm",
    "nvidia-h200-141gb": "nvidia-h200-141gb-sxm",
    "nvidia-rtx-pro-6000": "nvidia-rtx-pro-6000-blackwell-server",
    "ct5lp": "google-tpu-v5e",
    "tpu7x": "google-tpu-v7",
    "TPU v3 pod": "google-tpu-v3",
    # benchmarks, shops, people
    "NVIDIA A100-SXM4-80GB (400W)": "nvidia-a100-80gb-sxm",
    "V100-SXM3-32GB": "nvidia-v100-32gb-sxm3",
    "rtx4090": "nvidia-rtx-4090",
    "RTX 6000 Ada": "nvidia-rtx-6000-ada",
    "Trillium": "google-tpu-v6e",
    "gaudi2": "intel-gaudi2",
}


def test_usual_names_resolve() -> None:
    assert {name: resolve(name).slug for name in KNOWN_NAMES} == KNOWN_NAMES


def test_every_slug_name_and_alias_resolves_to_its_own_row() -> None:
    for one in all_accelerators():
        for text in (one.slug, one.name, *one.aliases, *one.api_names):
            assert resolve(text) is one, text


def test_trap_3_a100_never_matches_a100_80gb() -> None:
    with pytest.raises(InvalidInput, match=r"ambiguous.*A100 SXM4 40 GB.*A100 SXM4 80 GB"):
        resolve("A100")
    assert resolve("A100 40GB").memory_gib == 40
    assert resolve("A100 80GB").memory_gib == 80


@pytest.mark.parametrize(
    ("name", "slug"), [("T4", "nvidia-t4"), ("L4", "nvidia-l4"), ("L40", "nvidia-l40")]
)
def test_trap_3_a_short_name_is_no_prefix_of_a_longer_one(name: str, slug: str) -> None:
    assert resolve(name).slug == slug


@pytest.mark.parametrize("name", ["A100 PCIe", "RTX 6000", "RTX PRO 6000", "TPU", "TPU v5", "80GB"])
def test_an_ambiguous_name_is_refused_with_its_candidates(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        resolve(name, "workload.accelerator")
    assert refused.value.field == "workload.accelerator"
    assert all(one.name in refused.value.message for one in accelerators.candidates(name))
    assert len(accelerators.candidates(name)) > 1


def test_an_unknown_name_is_refused_with_the_closest() -> None:
    with pytest.raises(InvalidInput, match=r"'H1000' is not a known accelerator.*H100 "):
        resolve("H1000")


def test_an_unknown_precision_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"precision: 'fp12' is unknown; allowed are fp32"):
        get("nvidia-t4").dense_tflops("fp12")


def test_a_device_without_a_precision_has_no_rate_for_it() -> None:
    assert get("nvidia-v100-16gb-sxm").dense_tflops("bf16") is None
    assert get("google-tpu-v4").dense_tflops("fp16") is None
    assert get("nvidia-p40").dense_tflops("fp16") is None


def test_every_row_is_plausible_and_carries_source_and_year() -> None:
    for one in all_accelerators():
        assert one.source, one.slug
        assert 2010 <= one.year <= 2030, one.slug
        assert one.memory_gib > 0, one.slug
        assert one.accelerator_class in {"consumer", "workstation", "data_center", "tpu"}, one.slug
        rates = [one.dense_tflops(p) for p in accelerators.PRECISIONS]
        assert all(rate is None or rate > 0 for rate in rates), one.slug


def test_lower_precision_is_never_slower_than_fp32() -> None:
    for one in all_accelerators():
        for rate in (one.bf16_tflops, one.fp16_tflops, one.fp8_tflops):
            assert rate is None or one.fp32_tflops is None or rate >= one.fp32_tflops, one.slug


def test_the_fp32_rate_is_cores_times_clock() -> None:
    clocked = [one for one in all_accelerators() if one.cores is not None]
    assert len(clocked) > 70
    for one in clocked:
        cores, boost = float(one.cores or 0), one.boost_clock_mhz or 0.0
        each = (one.fp32_tflops or 0.0) * 1e6 / (cores * boost)
        assert min(abs(each / operations - 1) for operations in (2, 4)) < 0.01, one.slug
        assert 0 < (one.base_clock_mhz or 0.0) <= boost, one.slug


@examples(20, 2000)
@given(st.text(max_size=40))
def test_any_text_resolves_or_is_refused_never_crashes(text: str) -> None:
    if find(text) is None:
        with pytest.raises(InvalidInput):
            resolve(text)
    else:
        assert resolve(text) is find(text)


@examples(20, 2000)
@given(st.sampled_from(all_accelerators()), st.randoms(use_true_random=False))
def test_case_and_order_of_words_do_not_matter(one: Accelerator, random: object) -> None:
    for alias in one.aliases:
        words = alias.swapcase().replace(" ", "-").split("-")
        random.shuffle(words)  # type: ignore[attr-defined]
        if "HL" not in words and "hl" not in words:
            assert resolve("-".join(words)) is one

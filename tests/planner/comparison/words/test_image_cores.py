"""Images on machines with few processors beside each accelerator are told to wait for them."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

SMALL_MODEL = {"forward_gflops_per_sample": 1.0, "parameters": 5e6}


def told(slug: str, **work: Any) -> list[str]:
    request = {
        "start": "2027-01",
        "horizon_months": 2,
        "rules": 5,
        "cheaper_if": False,
        "sensitivity": False,
        "workload": {"kind": "samples", "samples": 1.2e6, "epochs": 300} | work,
        "risk": {"samples": 100},
        "constraints": {
            "accelerators": [slug],
            "providers": ["aws"],
            "purchase_options": ["on_demand"],
        },
        "on_prem": {"servers": []},
    }
    answer = compare(request, bundled_catalog(), today=TODAY)
    return [words for words in answer.warnings if words.startswith("Loading images: ")]


def test_too_few_cores_are_told_with_what_they_do_to_the_hours() -> None:
    (words,) = told("nvidia-l4", **SMALL_MODEL)
    assert "g6.xlarge has 2 cores per L4" in words
    assert "a framework's own loader needs about 3.5 to read the 1,151 images a second" in words
    assert "up to 1.7 times as many hours" in words


@pytest.mark.parametrize(
    "work",
    [
        SMALL_MODEL | {"loader": "hand_tuned"},
        {"forward_gflops_per_sample": 8.2, "parameters": 2.5e7},
    ],
)
def test_a_fast_loader_or_a_larger_model_has_enough(work: dict[str, Any]) -> None:
    assert not told("nvidia-l4", **work)


def test_cores_that_all_but_do_are_not_told() -> None:
    """6.1 cores are needed of 6: hours "up to 1.0 times as many" say nothing."""
    assert not told("nvidia-a100-40gb-sxm", benchmark="resnet-50-v1.5-imagenet-ngc")


def test_a_rate_that_was_measured_has_its_loader_in_it() -> None:
    assert not told("nvidia-l4", samples_per_second=5000, accelerator="nvidia-l4")


def test_large_machines_have_cores_to_spare() -> None:
    assert not told("nvidia-h100-80gb-sxm", forward_gflops_per_sample=8.2, parameters=2.5e7)

"""Numbers of TPU chips that are advised can be rented."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get
from pricing.market.machine_types import tpu_slices


def sized(model, tokens, tpu, **more):
    asked = {"kind": "training", "model": model, "tokens": tokens, **more}
    return placed_on(parse(Training, asked), get(f"google-tpu-{tpu}")).at()


@pytest.mark.parametrize(
    ("model", "tokens", "tpu", "before", "chips"),
    [
        ("Llama-3.1-8B", 1e8, "v6e", 7, 8),
        ("Qwen2.5-14B", 1e9, "v5e", 40, 64),
        ("Llama-3.1-70B", 1e9, "v5p", 24, 32),
        ("Llama-3.2-3B", 1e8, "v4", 3, 4),
    ],
)
def test_the_chips_advised_are_a_slice_and_said_to_be(model, tokens, tpu, before, chips):
    one = sized(model, tokens, tpu)
    assert one.accelerators == chips
    assert one.layout.unused == 0
    name = one.accelerator.name
    words = f"{chips} chips are used, because {name} cannot be rented in slices of {before}"
    assert words in " ".join(one.warnings)
    assert chips in {piece.chips for piece in tpu_slices() if tpu in piece.accelerator}


def test_of_stated_jobs_the_number_stays():
    assert sized("Llama-3.1-8B", 1e8, "v6e", accelerators_per_job=7).accelerators <= 7

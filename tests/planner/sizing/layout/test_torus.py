"""TPUs are joined by a torus: links of their generation, wide splits, weights over a whole pod."""

import numpy as np
import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.step_time import _ring_rate, links_of
from planner.sizing.performance.levels import rates_on
from pricing.market.accelerators import get

PALM = {
    "kind": "training",
    "parameters": 540e9,
    "tokens": 780e9,
    "layers": 118,
    "hidden_size": 18_432,
    "sequence_length": 2048,
    "global_batch_tokens": 4_194_304,
}
V4, GB200 = get("google-tpu-v4"), get("nvidia-gb200")


def task(one, **changes):
    work = parse(Training, PALM | changes)
    return LayoutTask(work, one, "bf16", rates_on(work, one, "bf16"))


@pytest.mark.parametrize(
    ("slug", "one_way"),
    [("google-tpu-v3", 82), ("google-tpu-v4", 50), ("google-tpu-v5p", 100)],
)
def test_a_ring_goes_both_ways_at_the_rate_of_its_generation(slug, one_way):
    links = links_of(get(slug))
    assert links.inside == pytest.approx(2 * one_way * 0.75)
    assert links.network / links.node == pytest.approx(links.inside)


def test_what_is_no_tpu_has_the_same_links_either_way():
    assert links_of(GB200) == links_of(GB200)


def test_weights_may_be_sharded_over_a_whole_pod():
    assert task(V4).on(6144).zero_stage == 3


def test_layers_may_be_split_wider_than_a_server():
    assert task(V4).splits.grid.tensor.max() == 32
    assert task(GB200).splits.grid.tensor.max() == 8


def test_pod_and_slice_are_one_torus():
    """So that a ring over many is no slower than over one slice."""
    links = links_of(V4)
    inner, group = np.array([1.0, 1.0]), np.array([64.0, 4096.0])
    near, far = _ring_rate(links, inner, group)
    assert far == pytest.approx(near)

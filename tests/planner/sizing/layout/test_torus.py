"""TPUs are joined by a torus: links of their generation, wide splits, weights over a whole pod."""

import numpy as np
import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.links import links_of
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.step_time import _ring_rate
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


def task(one, rules, **changes):
    work = parse(Training, PALM | changes)
    return LayoutTask(work, one, "bf16", rates_on(work, one, "bf16", rules))


@pytest.mark.parametrize(
    ("slug", "one_way"),
    [("google-tpu-v3", 82), ("google-tpu-v4", 50), ("google-tpu-v5p", 100)],
)
def test_a_ring_goes_both_ways_at_the_rate_of_its_generation(slug, one_way):
    links = links_of(get(slug), by_torus=True)
    assert links.inside == pytest.approx(2 * one_way * 0.75)
    assert links.network / links.node == pytest.approx(links.inside)


def test_what_is_no_tpu_has_the_same_links_either_way():
    assert links_of(GB200, by_torus=True) == links_of(GB200)


def test_weights_may_be_sharded_over_a_whole_pod():
    assert task(V4, 5).on(6144).zero_stage == 3
    assert task(V4, 4).on(6144).zero_stage < 3


def test_layers_may_be_split_wider_than_a_server():
    assert task(V4, 5).splits.grid.tensor.max() == 32
    assert task(V4, 4).splits.grid.tensor.max() == 8
    assert task(GB200, 5).splits.grid.tensor.max() == 8


def test_a_small_step_is_split_wide():
    """LaMDA's steps of 256,000 tokens are 125 sequences for 1,024 chips."""
    lamda = {"parameters": 137e9, "layers": 64, "hidden_size": 8192, "global_batch_tokens": 256_000}
    one = get("google-tpu-v3")
    wide, usual = (task(one, rules, **lamda).on(1024) for rules in (5, 4))
    assert wide.tensor > 8 >= usual.tensor
    assert wide.share_of_level > usual.share_of_level


def test_pod_and_slice_are_one_torus():
    """So that a ring over many is no slower than over one slice."""
    links = links_of(V4, by_torus=True)
    inner, group = np.array([1.0, 1.0]), np.array([64.0, 4096.0])
    near, far = _ring_rate(links, inner, group)
    assert far == pytest.approx(near)

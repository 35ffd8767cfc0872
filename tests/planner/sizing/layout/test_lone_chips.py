"""A superchip without NVLink to others is a server of its own."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.candidates.ranking import reasons_for
from planner.sizing.layout.step_time import is_lone_chip, links_of
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import all_accelerators, get

GH200 = get("nvidia-gh200-96gb")
KIMI = {"kind": "training", "model": "Kimi-K2", "tokens": 1e12}


def task(**changes):
    return placed_on(parse(Training, KIMI | changes), GH200)


def test_it_has_its_own_network_and_no_neighbours_on_pcie():
    assert [one.slug for one in all_accelerators() if is_lone_chip(one)] == [
        "nvidia-gh200-96gb",
        "nvidia-gb10",
    ]
    alone = links_of(GH200)
    assert alone.network == pytest.approx(25 * 0.75)


def test_what_joins_it_is_said():
    links = "links: PCIe or the network, {} GB/s {}; traffic takes"
    (said,) = [why for why in reasons_for(GH200, task().at(512)) if why.startswith("links")]
    assert said.startswith(links.format(19, "between servers of one each"))
    (said,) = [why for why in reasons_for(GH200, task().at(512)) if why.startswith("links")]

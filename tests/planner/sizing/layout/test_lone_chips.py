"""A superchip without NVLink to others is a server of its own, from rules 6 on."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.candidates.reasons import reasons_for
from planner.sizing.layout.links import is_lone_chip, links_of
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import all_accelerators, get

GH200 = get("nvidia-gh200-96gb")
KIMI = {"kind": "training", "model": "Kimi-K2", "tokens": 1e12}


def task(rules, **changes):
    return placed_on(parse(Training, KIMI | changes), GH200, rules)


def test_it_has_its_own_network_and_no_neighbours_on_pcie():
    assert [one.slug for one in all_accelerators() if is_lone_chip(one)] == [
        "nvidia-gh200-96gb",
        "nvidia-gb10",
    ]
    alone, before = links_of(GH200, by_chip=True), links_of(GH200)
    assert (alone.node, before.node) == (1, 8)
    assert alone.network == pytest.approx(25 * 0.75)
    for slug in ("nvidia-gb200", "nvidia-l40s", "google-tpu-v5e"):
        assert links_of(get(slug), by_chip=True) == links_of(get(slug))


def test_experts_and_weights_travel_over_it_under_rules_6():
    for rules, node in ((5, 8), (6, 1)):
        assert task(rules).layouts.links.node == node
    with_experts = {"layout": {"pipeline": 16, "expert": 16}}
    size, before = task(6, **with_experts).at(512), task(5, **with_experts).at(512)
    assert size.layout.exposed_communication < before.layout.exposed_communication


def test_what_joins_it_is_said():
    links = "links: PCIe or the network, {} GB/s {}; traffic takes"
    (said,) = [why for why in reasons_for(GH200, task(6).at(512)) if why.startswith("links")]
    assert said.startswith(links.format(19, "between servers of one each"))
    (said,) = [why for why in reasons_for(GH200, task(5).at(512)) if why.startswith("links")]
    assert said.startswith(links.format(9, "within a server"))

"""What joins accelerators: within a node and between nodes. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from planner.sizing.footprint.parallelism import fast_domain
from pricing.market.accelerators import Accelerator, get

LINK_EFFICIENCY = 0.75
"""Share of a link's rate that collectives reach: NCCL all-reduce on 8 H100 360 of 450 GB/s
(NVIDIA nccl-tests on HGX H100, 2023)."""
PCIE_GB_PER_S = 12.0
"""GB/s, one way, between cards on PCIe 4.0 x16 through the host: half of the 25 that one copy
reaches (NVIDIA p2pBandwidthLatencyTest, 2022)."""
CONSUMER_GB_PER_S = 6.0
"""The same for consumer cards, whose drivers copy through host memory: 8 GeForce cards share the
root complexes (NVIDIA developer forum on RTX 4090 peer access, 2023)."""
NODE = 8
"""Accelerators of a usual server (HGX and DGX, NVIDIA, 2017-2025)."""
NODE_NETWORK_GB_PER_S = {"hgx-2022": 400.0, "hgx-2020": 200.0, "hgx-2017": 12.5, "pcie": 12.5}
"""GB/s, one way, of a node's network: 8 x 400 Gb/s (DGX H100), 8 x 200 Gb/s (DGX A100), 100 Gb/s
(AWS p3dn, and usual PCIe servers); vendors' and AWS's data sheets, 2017-2023."""
SUPERCHIP_GB_PER_S = 25.0
"""GB/s, one way, of the network of a superchip that is a server of its own, from rules 6 on: 200
Gb/s for each GH200 of Alps (Fusco et al., arXiv 2408.11556, 2024) and for each GB10 (NVIDIA DGX
Spark data sheet, 2025)."""
ICI_GB_PER_S = 45.0
"""GB/s of one TPU link and way (Google Cloud TPU system architecture, 2024); of every generation
up to rules 4."""
TORUS_GB_PER_S = {
    "google-tpu-v2": 62.0,
    "google-tpu-v3": 82.0,
    "google-tpu-v4": 50.0,
    "google-tpu-v5e": 50.0,
    "google-tpu-v5p": 100.0,
    "google-tpu-v7": 100.0,
}
"""The same by generation, from rules 5 on: v2 496 and v3 656 Gbit/s a link (Jouppi et al., CACM
63(7), 2020), v4 400 Gbit/s (Google Cloud TPU v4, 2023), v5e 400 GB/s both ways over 4 links, v5p
and v7 1,200 over 6 (Google Cloud, 2026)."""


@dataclass(frozen=True)
class Links:
    """Rates of the links that join accelerators of one kind, GB/s one way, as collectives see
    them."""

    domain: int
    """Accelerators that the fast links join."""
    inside: float
    """Between accelerators of one domain or server."""
    node: int
    """Accelerators of one server."""
    network: float
    """Of one server's network, all its accelerators together."""


def links_of(one: Accelerator, by_torus: bool = False, by_chip: bool = False) -> Links:
    """Links of an accelerator as it is usually built in; `by_torus` those of a TPU's generation,
    which join a whole pod, `by_chip` those of a superchip as a server of its own, which stood for
    eight in one on PCIe before.

    >>> h100, l4 = links_of(get("nvidia-h100-80gb-sxm")), links_of(get("nvidia-l4"))
    >>> h100.domain, h100.inside, h100.network, l4.domain, l4.inside
    (8, 337.5, 300.0, 1, 9.0)
    >>> v4 = get("google-tpu-v4")
    >>> links_of(v4).inside, links_of(v4, by_torus=True).inside
    (67.5, 75.0)
    >>> links_of(get("nvidia-gh200-96gb"), by_chip=True)
    Links(domain=1, inside=18.75, node=1, network=18.75)
    """
    if by_chip and is_lone_chip(one):
        rate = SUPERCHIP_GB_PER_S * LINK_EFFICIENCY
        return Links(1, rate, 1, rate)
    return _torus(one.slug) if by_torus and is_tpu(one) else _links(one.slug)


def is_lone_chip(one: Accelerator) -> bool:
    """Whether it is a server of its own: a superchip without NVLink to others."""
    return one.form == "superchip" and fast_domain(one) == 1


def is_tpu(one: Accelerator) -> bool:
    """Whether it is joined by a torus."""
    return one.accelerator_class == "tpu"


@cache
def _torus(slug: str) -> Links:
    """A ring along one axis goes both ways round, within a slice and beyond it."""
    usual, one_way = _links(slug), TORUS_GB_PER_S.get(slug)
    inside = 2 * one_way * LINK_EFFICIENCY if one_way else usual.inside
    return Links(usual.domain, inside, usual.node, inside * usual.node)


@cache
def _links(slug: str) -> Links:
    one = get(slug)
    domain = fast_domain(one)
    inside, node = _inside(one, domain), max(NODE, domain)
    return Links(domain, inside * LINK_EFFICIENCY, node, _network(one, domain) * LINK_EFFICIENCY)


def _inside(one: Accelerator, domain: int) -> float:
    both_ways = one.interconnect_gb_per_s
    if is_tpu(one):
        return both_ways / 2 if both_ways else 2 * ICI_GB_PER_S
    if one.interconnect == "pcie" or domain == 1:
        return CONSUMER_GB_PER_S if one.accelerator_class == "consumer" else PCIE_GB_PER_S
    return both_ways / 2 if both_ways else 200.0


def _network(one: Accelerator, domain: int) -> float:
    if is_tpu(one):
        return ICI_GB_PER_S * domain
    if domain < NODE:
        return NODE_NETWORK_GB_PER_S["pcie"]
    age = "hgx-2022" if one.year >= 2022 else "hgx-2020" if one.year >= 2019 else "hgx-2017"
    return NODE_NETWORK_GB_PER_S[age] * domain / NODE

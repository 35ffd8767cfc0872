"""Time of a step under a split, over the time if only the matrix work of the model counted. PURE.

    share of the accelerator's level = ideal / (compute + exposed communication) · 1 / (1 + bubble)

Compute is the model's matrix work at the level that a well-tuned framework reaches on the
accelerator, longer with recomputation, small micro-batches and thin slices of matrices.
Communication counts as far as compute does not hide it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from planner.sizing.footprint.memory import ONE_NODE, fast_domain
from planner.sizing.footprint.training_flops import RECOMPUTE_FACTOR
from planner.sizing.layout.memory_fit import Shard
from planner.sizing.layout.shapes import FULL, SELECTIVE, Floats, Grid, ModelShape
from pricing.market.accelerators import Accelerator, get

FULL_COST, SELECTIVE_COST = 1.13, 1.03
"""Time with checkpointing over time without: MPT 7B on 8 A100 reaches 64.2 % MFU without and 58.0 %
with it, 1.3B to 70B 0.88 of it in the median; one third more operations, at larger micro-batches
(mosaicml/llm-foundry benchmarking README @8c8dd48f7216, 2023). Selective: of attention alone
(arXiv 2205.05198 section 5, 2022)."""
ADAPTER_FULL_COST = 1.2
"""The same with frozen weights, whose forward pass is half of the work instead of a third (from
Hu et al., arXiv 2106.09685, 2021)."""
HALF_FULL_TOKENS = 150.0
"""Tokens of a micro-batch at which matrices reach half of their rate; MPT 13B and 30B on A100 at
512 to 2,048 tokens (same source, 2023)."""
HALF_FULL_WIDTH = 48.0
"""Hidden units per tensor-parallel slice at which they do (same source; Megatron-LM README,
2024)."""
TENSOR_EXPOSED = 0.6
"""Part of tensor-parallel traffic that is not hidden: asynchronous tensor parallelism raises Llama
3 70B on 256 H100 from 597 to 652 tokens/s (pytorch/torchtitan @31a17bfd, 2025)."""
EXPERT_EXPOSED = 0.05
"""Part of the all-to-all of experts that is not: DeepSeek-V3 on 2,048 H800 hides nearly all of it
behind the arithmetic of other micro-batches (arXiv 2412.19437 section 3.2, 2024), fitted to its
published layout and hours."""
SHARD_HIDDEN, STEP_HIDDEN = 0.8, 0.5
"""Part of compute behind which gathers of ZeRO stage 3, and the reduction of gradients once a
step, hide; planning values of this project, 2026."""
CONTEXT_COST = 0.03
"""Time lost to the ring of keys and values per doubling of context parallelism; Llama 3 405B at
131,072 tokens on 16 ways reaches 38 % against 41 % MFU (arXiv 2407.21783 Table 4, 2024)."""
RING_PASSES, RING_RECOMPUTING = 3.0, 4.0
"""Times that keys and values go round the ring of a layer: forward, and backward
with their gradients, and once more where the layer is computed again. What attention itself takes
hides it (Liu et al., Ring Attention, arXiv 2310.01889 section 3, 2023)."""
INTERLEAVED = 8.0
"""Most chunks of layers a stage holds: the bubble falls with them (Narayanan et al., arXiv
2104.04473 section 2.2, 2021); eight as Llama 3.1 405B of 126 layers in 16 stages, a layer each
(arXiv 2407.21783 section 3.3.2, 2024), fitted to its published layout and hours."""
QLORA_BYTES_MOVED = 2.5
"""Bytes per frozen weight that a pass reads in 4 bits and writes in 16 (Dettmers et al., arXiv
2305.14314, 2023)."""
MOST_MORE = 8
"""Layers above ceil(L / p) that stages are tried with where the output is worth many: 5.9 of Llama
3.2 1B (its config, 2024); a limit of this project, 2026."""
HOST_GB_PER_S, HOST_PARAMETERS_PER_S = 20.0, 1e9
"""GB/s of PCIe 4.0 to the host's memory, and parameters that a server's CPUs update a second and
accelerator (DeepSpeed ZeRO-Offload, arXiv 2101.06840, 2021)."""


@dataclass(frozen=True)
class Rates:
    """What one accelerator sustains on matrices, FLOP/s."""

    matrix: float
    attention: float
    """Of attention, which stays in 16 bits under fp8."""
    launch_seconds: float = 0.0
    """s in which a host starts the kernels of one layer, forward and backward."""
    dequantised: float = math.inf
    """Bytes/s of 4-bit weights made 16-bit ones, both counted."""


@dataclass(frozen=True)
class StepWork:
    """FLOPs of one token, forward and backward."""

    matrix: float
    attention: float


@dataclass(frozen=True)
class StepTime:
    """How a step's time is spent; every array is [splits]."""

    share: Floats
    """Of the accelerator's level that is left."""
    bubble: Floats
    """Share of the step in which pipeline stages idle."""
    exposed: Floats
    """Share of the working time that communication takes."""


@dataclass(frozen=True)
class TimePlan:
    """What a step under each split computes and moves, before replicas and micro-batch are known;
    bytes by token or by step."""

    slowdown: Floats
    """Time of the matrix work over the ideal, but for small micro-batches."""
    tensor_bytes: Floats
    """A token, within the tensor-parallel group."""
    expert_bytes: Floats
    """A token, between the experts' ranks."""
    visits: float
    """Experts that a token visits."""
    ring_bytes: Floats
    """A token, of keys and values between the ranks of a sequence; 0 where it is not split."""
    attention: Floats
    """FLOPs of attention for a token on one accelerator."""
    gathered_bytes: Floats
    """A micro-batch, of ZeRO stage 3."""
    streamed_bytes: Floats
    """A micro-batch, of weights in the memory of the hosts, shared by the group."""
    step_bytes: Floats
    """A step: gradients and weights."""
    chunks: Floats
    """Of layers that a stage holds."""
    passes: Floats
    """Layers that a micro-batch passes on a stage, recomputation counted."""
    dequantised_bytes: Floats
    """A micro-batch, read in 4 and written in 16 bits."""

    @cached_property
    def spreads_experts(self) -> bool:
        """Whether any split moves tokens between the ranks of experts."""
        return bool(self.expert_bytes.any())

    @cached_property
    def splits_sequences(self) -> bool:
        """Whether any split passes keys and values round a ring."""
        return bool(self.ring_bytes.any())


def pace_of_fullest(shape: ModelShape, grid: Grid, shard: Shard, at_work: float) -> Floats:
    """Time of the fullest stage over that of a mean one, max(m, l + h) p / (L + h), with the m of L
    layers a stage that make it least: the last stage has the l = L - (p - 1) m that are left, and
    the output, worth h layers by its part of the `at_work` parameters. 1 where layers are a guess.
    """
    if not shard.is_whole:
        return np.ones_like(grid.pipeline)
    layer = max(at_work - shape.embeddings * shape.embedding, 0.0) / shape.layers
    output = shape.embedding / layer if shape.outputs > 1 and layer else 0.0
    held = np.ceil(shape.layers / grid.pipeline) + np.arange(MOST_MORE + 1.0)[:, None]
    last = np.maximum(shape.layers - (grid.pipeline - 1) * held, 0.0) + output
    slowest = np.maximum(np.where(grid.pipeline > 1, held, 0.0), last).min(axis=0)
    return np.asarray(slowest * grid.pipeline / (shape.layers + output))


def time_plan(
    shape: ModelShape,
    grid: Grid,
    shard: Shard,
    at_work: float,
    attention: float = 0.0,
    weight_bytes: float = 2.0,
    is_streamed: bool = False,
) -> TimePlan:
    """Work and traffic of each split, of a model with `at_work` parameters multiplied for a token
    and FLOPs of `attention`, whose weights of `weight_bytes` come from the hosts where streamed.

    Tensor parallelism: four all-reduces of 2 s b d bytes a layer, six with recomputation. Experts:
    there and back, forward and backward, k copies of each token. Ring of a split sequence: keys and
    values in 16 bits. ZeRO stage 3: weights gathered forward and backward and gradients scattered
    every micro-batch; frozen weights gathered alone. Else once a step: gradients reduced and
    weights spread again.
    """
    t, e, c = grid.tensor, grid.expert, grid.context
    mean = shape.layers / grid.pipeline
    layers = mean * shard.fullest
    copy = 2.0 * shape.hidden_size / c * layers
    times = np.where(grid.checkpointing == FULL, 6.0, 4.0)
    passes = np.where(grid.checkpointing == FULL, RING_RECOMPUTING, RING_PASSES)
    is_sharded = grid.zero_stage >= 3
    gathered = (2.0 if shape.is_adapter else 3.0) * weight_bytes * shard.resident
    full = ADAPTER_FULL_COST if shape.is_adapter else FULL_COST
    k = grid.checkpointing
    cost = np.where(k == FULL, full, np.where(k == SELECTIVE, SELECTIVE_COST, 1.0))
    thin = 1 + HALF_FULL_WIDTH * (grid.tensor - 1) / shape.hidden_size
    return TimePlan(
        slowdown=np.asarray(cost * thin * (1 + CONTEXT_COST * np.log2(grid.context)))
        * pace_of_fullest(shape, grid, shard, at_work),
        tensor_bytes=times * 2 * (t - 1) / t * copy,
        expert_bytes=4.0 * shape.experts_per_token * copy * (e - 1) / e / t,
        visits=float(shape.experts_per_token),
        ring_bytes=passes * 2.0 * shape.keys_and_values * (c - 1) / c / t * layers,
        attention=attention / grid.parts,
        gathered_bytes=np.where(is_sharded, gathered, 0.0),
        streamed_bytes=gathered * is_streamed,
        step_bytes=np.where(is_sharded, 0.0, 4.0 * shard.trained),
        chunks=np.clip(np.rint(mean), 1.0, INTERLEAVED),
        passes=layers * np.where(grid.checkpointing == FULL, RECOMPUTE_FACTOR, 1.0),
        dequantised_bytes=QLORA_BYTES_MOVED
        * np.where(grid.checkpointing == FULL, 3.0, 2.0)
        * shard.resident,
    )


def step_time(
    plan: TimePlan,
    grid: Grid,
    links: Links,
    seconds_per_token: float,
    rates: Rates,
    tokens: Floats,
    group: Floats,
    micro_batches: Floats,
    host_seconds: Floats | float = 0.0,
) -> StepTime:
    """Share of the level that a step under each split reaches.

    `seconds_per_token` of one accelerator at its level, `tokens` of a micro-batch, `group`
    accelerators that share one rank's states, `host_seconds` of the optimizer on the host.
    """
    ideal = seconds_per_token * tokens / grid.parts
    compute = ideal * plan.slowdown * (1 + HALF_FULL_TOKENS * grid.context / tokens)
    compute = np.maximum(compute, plan.passes * rates.launch_seconds)
    compute = compute + plan.dequantised_bytes / rates.dequantised
    inside = links.inside * 1e9
    exposed = tokens * (plan.tensor_bytes * (TENSOR_EXPOSED / inside))
    if plan.spreads_experts:
        # Beyond a server one copy of a token goes to each server that holds some of its experts
        # (deepseek-ai/DeepEP, 2025), and no more is hidden than there is arithmetic.
        between = np.where(grid.expert <= links.node, inside, links.network / links.node * 1e9)
        nodes = np.maximum(1.0, grid.expert / links.node)
        copies = np.where(nodes > 1, nodes * (1 - (1 - 1 / nodes) ** plan.visits), plan.visits)
        moved = tokens * plan.expert_bytes * (copies / plan.visits) / between
        exposed = exposed + np.maximum(EXPERT_EXPOSED * moved, moved - compute)
    if plan.splits_sequences:
        ring = plan.ring_bytes / _ring_rate(links, grid.tensor, grid.context)
        exposed = exposed + tokens * np.maximum(0.0, ring - plan.attention / rates.attention)
    others = (group - 1) / group / _ring_rate(links, grid.tensor, group)
    streamed = plan.streamed_bytes / group / (links.host * 1e9)
    gathers = plan.gathered_bytes * others + streamed - SHARD_HIDDEN * compute
    once = plan.step_bytes * others - STEP_HIDDEN * compute
    # Of several chunks of layers on a stage the reduction of the last alone is not hidden: the
    # others are reduced while the micro-batches in flight pass the rest, if those take long
    # enough (NVIDIA NeMo user guide 25.09, Communication Overlap, 2025).
    flying = np.minimum(grid.pipeline, micro_batches)
    of_last = once / np.where(grid.pipeline > 1, plan.chunks, 1.0)
    once = np.maximum(of_last, once - STEP_HIDDEN * compute * (flying - 1)) + host_seconds
    exposed = exposed + np.maximum(0.0, gathers) + np.maximum(0.0, once) / micro_batches
    working = compute + exposed
    stages = grid.pipeline
    waiting: Floats = np.where(
        micro_batches < stages,
        stages - flying + (flying - 1) / plan.chunks,
        (stages - 1) / plan.chunks,
    )
    idle = waiting / micro_batches
    return StepTime(
        share=ideal / (working * (1 + idle)), bubble=idle / (1 + idle), exposed=exposed / working
    )


def most_in_stages(
    plan: TimePlan,
    grid: Grid,
    rates: Rates,
    seconds_per_sequence: float,
    sequence: int,
    of_replica: Floats,
) -> Floats:
    """Sequences of a micro-batch from which stages idle longer than its matrices gain, of
    `of_replica` in a step; of one accelerator in all a sequence takes `seconds_per_sequence`.

    m sequences take (1 + a / m) (1 + b m) of the time, with a = 150 c / s of `HALF_FULL_TOKENS` and
    b = (p - 1) / (v n) of the stages: least at m = √(a / b), or where the start of the kernels is
    all that a micro-batch takes. Infinite without stages.
    """
    gain = HALF_FULL_TOKENS * grid.context / sequence
    idle = (grid.pipeline - 1) / (plan.chunks * np.maximum(1.0, of_replica))
    compute = seconds_per_sequence / grid.parts * plan.slowdown
    started = plan.passes * rates.launch_seconds / compute
    best = np.sqrt(gain / np.where(grid.pipeline > 1, idle, 1.0))
    return np.asarray(np.where(grid.pipeline > 1, np.maximum(best, started), np.inf))


def host_seconds(trained: Floats, grid: Grid, group: Floats) -> Floats:
    """Seconds a step of an optimizer on the host: its share of gradients and weights over PCIe, and
    the update on CPUs."""
    own = trained / np.where(grid.zero_stage >= 1, group, 1.0)
    return np.asarray(own * (4.0 / (HOST_GB_PER_S * 1e9) + 1 / HOST_PARAMETERS_PER_S))


def _ring_rate(links: Links, inner: Floats, group: Floats) -> Floats:
    """Bytes/s of a ring over `group` accelerators that are `inner` apart: within a server its
    links, between servers the share of the network that each of `inner` rings has."""
    between = np.minimum(links.inside, links.network / np.minimum(inner, links.node))
    return np.asarray(np.where(inner * group <= links.node, links.inside, between) * 1e9)


LINK_EFFICIENCY = 0.75
"""Share of a link's rate that collectives reach: NCCL all-reduce on 8 H100 360 of 450 GB/s
(NVIDIA nccl-tests on HGX H100, 2023)."""
PCIE_GB_PER_S = 12.0
"""GB/s, one way, between cards on PCIe 4.0 x16 through the host: half of the 25 that one copy
reaches (NVIDIA p2pBandwidthLatencyTest, 2022)."""
PCIE_4 = 2020
"""Year from which accelerators came with PCIe 4.0, at twice the rate of 3.0 (NVIDIA A100, 2020)."""
CHIP_TO_CHIP_GB_PER_S = 450.0
"""GB/s, one way, from the processor of a superchip (NVIDIA Grace Hopper datasheet, 2023)."""
CONSUMER_GB_PER_S = 6.0
"""The same for consumer cards, whose drivers copy through host memory: 8 GeForce cards share the
root complexes (NVIDIA developer forum on RTX 4090 peer access, 2023)."""
NODE_NETWORK_GB_PER_S = {"hgx-2022": 400.0, "hgx-2020": 200.0, "hgx-2017": 12.5, "pcie": 12.5}
"""GB/s, one way, of a node's network: 8 x 400 Gb/s (DGX H100), 8 x 200 Gb/s (DGX A100), 100 Gb/s
(AWS p3dn, and usual PCIe servers); vendors' and AWS's data sheets, 2017-2023."""
SUPERCHIP_GB_PER_S = 25.0
"""GB/s, one way, of the network of a superchip that is a server of its own: 200
Gb/s for each GH200 of Alps (Fusco et al., arXiv 2408.11556, 2024) and for each GB10 (NVIDIA DGX
Spark data sheet, 2025)."""
ICI_GB_PER_S = 45.0
"""GB/s of one TPU link and way (Google Cloud TPU system architecture, 2024); of
generations not named below."""
TORUS_GB_PER_S = {
    "google-tpu-v2": 62.0,
    "google-tpu-v3": 82.0,
    "google-tpu-v4": 50.0,
    "google-tpu-v5e": 50.0,
    "google-tpu-v5p": 100.0,
    "google-tpu-v7": 100.0,
}
"""The same by generation: v2 496 and v3 656 Gbit/s a link (Jouppi et al., CACM
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
    host: float
    """Between an accelerator and the memory of its host."""


def links_of(one: Accelerator) -> Links:
    """Links of an accelerator as it is usually built in: of a TPU those of its generation, which
    join a whole pod, of a superchip those of a server of its own.

    >>> h100, l4 = links_of(get("nvidia-h100-80gb-sxm")), links_of(get("nvidia-l4"))
    >>> h100.domain, h100.inside, h100.network, l4.domain, l4.inside
    (8, 337.5, 300.0, 1, 9.0)
    >>> links_of(get("google-tpu-v4")).inside
    75.0
    >>> links_of(get("nvidia-gh200-96gb"))
    Links(domain=1, inside=18.75, node=1, network=18.75, host=337.5)
    """
    if is_lone_chip(one):
        rate = SUPERCHIP_GB_PER_S * LINK_EFFICIENCY
        return Links(1, rate, 1, rate, CHIP_TO_CHIP_GB_PER_S * LINK_EFFICIENCY)
    return _torus(one.slug) if is_tpu(one) else links_in_servers(one.slug)


def is_lone_chip(one: Accelerator) -> bool:
    """Whether it is a server of its own: a superchip without NVLink to others."""
    return one.form == "superchip" and fast_domain(one) == 1


def is_tpu(one: Accelerator) -> bool:
    """Whether it is joined by a torus."""
    return one.accelerator_class == "tpu"


@cache
def _torus(slug: str) -> Links:
    """A ring along one axis goes both ways round, within a slice and beyond it."""
    usual, one_way = links_in_servers(slug), TORUS_GB_PER_S.get(slug)
    inside = 2 * one_way * LINK_EFFICIENCY if one_way else usual.inside
    return Links(usual.domain, inside, usual.node, inside * usual.node, usual.host)


@cache
def links_in_servers(slug: str) -> Links:
    """Links of an accelerator in servers of eight or more, whatever joins those: what the rates of
    serving are fitted with."""
    one = get(slug)
    domain = fast_domain(one)
    inside, node = _inside(one, domain), max(ONE_NODE, domain)
    network = _network(one, domain) * LINK_EFFICIENCY
    host = HOST_GB_PER_S if one.year >= PCIE_4 else HOST_GB_PER_S / 2
    return Links(domain, inside * LINK_EFFICIENCY, node, network, host)


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
    if domain < ONE_NODE:
        return NODE_NETWORK_GB_PER_S["pcie"]
    age = "hgx-2022" if one.year >= 2022 else "hgx-2020" if one.year >= 2019 else "hgx-2017"
    return NODE_NETWORK_GB_PER_S[age] * domain / ONE_NODE

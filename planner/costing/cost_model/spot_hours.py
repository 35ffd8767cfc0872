"""What interruptions leave of a spot hour, and how often spot machines are to be had. PURE."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.defaults import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.price_processes.families import Tier, find_family
from planner.costing.price_processes.spot_availability import SpotAvailability
from planner.sizing.performance.goodput import CHECKPOINT_GIB_PER_NODE_SECOND, spot_goodput
from pricing.market.interruptions import find_interruption_band
from pricing.market.offers import Offer

Floats = NDArray[np.float64]


def estimate_spot_goodput(
    offer: Offer, min_accelerators: int, assumptions: Assumptions, data: CloudData
) -> float:
    """Useful share of a spot hour.

    The default allows for waiting on capacity and for one node's interruptions; it falls as
    Young's overhead grows with the interruptions of the machine and with the nodes of the
    smallest job. Interruptions are those given, else those published for the machine, else the
    default.
    """
    nodes = float(np.ceil(min_accelerators / float(offer.accelerator_count)))
    rate = expected_interruptions_per_month(offer, assumptions)
    return _goodput_of_job(rate, nodes, assumptions, data)


def estimate_spot_goodputs(
    published: Floats, nodes: Floats, assumptions: Assumptions, data: CloudData
) -> Floats:
    """The same of many machines: [machine] interruptions published for it, NaN where none are,
    and the machines of the smallest job."""
    is_known = ~np.isnan(published) & (
        not assumptions.is_from_request("spot_interruptions_per_month")
    )
    rates = np.where(is_known, published, assumptions["spot_interruptions_per_month"])
    pairs, place = np.unique(np.stack([rates, nodes]), axis=1, return_inverse=True)
    goodput = [_goodput_of_job(rate, count, assumptions, data) for rate, count in pairs.T.tolist()]
    return np.array(goodput, np.float64)[place.ravel()]


def _goodput_of_job(
    interruptions_per_month: float, nodes: float, assumptions: Assumptions, data: CloudData
) -> float:
    save, restart = assumptions["checkpoint_save_hours"], assumptions["restart_hours"]
    default_goodput = spot_goodput(
        default("spot_interruptions_per_month").value, 1.0, save, restart
    )
    if data.checkpoint_gib is not None:
        save = max(data.checkpoint_gib / (CHECKPOINT_GIB_PER_NODE_SECOND * nodes * 3600), 1e-6)
    goodput_here = spot_goodput(interruptions_per_month, nodes, save, restart)
    return min(1.0, assumptions["spot_goodput"] * goodput_here / default_goodput)


def estimate_availability(
    source: CapacitySource, offer: Offer, assumptions: Assumptions
) -> SpotAvailability:
    """How much of the time a job's spot machines are all there."""
    nodes = float(np.ceil(source.min_accelerators / float(offer.accelerator_count)))
    family = find_family(source.accelerator)
    is_training = family is None or family.tier is Tier.TRAINING
    waiting = "spot_waiting_hours_training" if is_training else "spot_waiting_hours_other"
    rate = expected_interruptions_per_month(offer, assumptions) * nodes
    return SpotAvailability(rate, assumptions[waiting])


def expected_interruptions_per_month(offer: Offer, assumptions: Assumptions) -> float:
    """Interruptions of one machine in a month."""
    if not assumptions.is_from_request("spot_interruptions_per_month"):
        published = find_interruption_band(offer.provider, offer.region, offer.instance_type)
        if published is not None:
            return published.interruptions_per_month
    return assumptions["spot_interruptions_per_month"]

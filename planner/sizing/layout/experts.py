"""Whether the experts of a request can be: refusals by field. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import is_mixture
from planner.sizing.layout.search import USUAL_EXPERTS
from pricing.common.invalid_input import InvalidInput


def check_experts(training: Training) -> None:
    """Refuse experts that cannot be.

    Raises `InvalidInput` on `experts_per_token` where a token would visit more than there are, and
    on `layout` where it spreads experts that there are not, or not evenly.

    >>> one = Training(kind="training", parameters=47e9, tokens=1e9, active_parameters=13e9)
    >>> check_experts(one.model_copy(update={"experts": 8, "experts_per_token": 2}))
    """
    count, active = training.experts, training.experts_per_token
    if count and active and active > count:
        raise InvalidInput(
            "experts_per_token",
            f"{active:,} of {count:,} experts; a token visits {count:,} at most",
        )
    ways = training.layout.expert if training.layout else 1
    if ways > 1 and not is_mixture(training):
        raise InvalidInput(
            "layout",
            f"expert {ways} spreads experts, and a dense model has none; active_parameters, fewer "
            "than parameters, make it a mixture",
        )
    if count is None and ways > USUAL_EXPERTS:
        raise InvalidInput(
            "layout",
            f"expert {ways} is more than the {USUAL_EXPERTS} experts of a layer that are taken "
            "where none are named; experts says how many there are",
        )
    if count and count % ways:
        raise InvalidInput(
            "layout",
            f"expert {ways} does not divide the {count:,} experts of a layer; 1 to {count:,} that "
            "divide them do",
        )

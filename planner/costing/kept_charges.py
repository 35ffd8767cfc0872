"""What two questions charge alike, so that it is worked out for the first of them alone. PURE."""

from __future__ import annotations

from dataclasses import fields

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.moved_figures import (
    CHOICE,
    IN_DATA,
    IN_RENTALS,
    IN_SERVERS,
    is_alike,
    is_same,
)


def keep_charges(inputs: ModelInputs, other: ModelInputs) -> ModelInputs:
    """`other` itself where nothing differs; else `inputs`, with what is the same in both."""
    differing = {
        one.name
        for one in fields(inputs)
        if not is_same(one.name, getattr(inputs, one.name), getattr(other, one.name))
    }
    if not differing:
        return other
    known = vars(inputs)
    if differing <= CHOICE:
        for name in ("sources", "by_key", "units", "problem"):
            known[name] = getattr(other, name)
    if not differing & IN_RENTALS:
        known["priced_rentals"] = other.priced_rentals
    elif differing & IN_RENTALS == {"rentals"}:
        known["priced_alike"] = _list_priced_alike(inputs, other)
    if not differing & (IN_SERVERS | (IN_DATA if inputs.data.has_data else frozenset())):
        known["server_sources"] = other.server_sources
    return inputs


def _list_priced_alike(
    inputs: ModelInputs, other: ModelInputs
) -> dict[str, tuple[CapacitySource, CapacitySource]]:
    """The offers of `other`, before and after they are priced, that others beside them do not
    move: spot is priced with the offer on demand that stands in for it."""
    falls_back_alike = is_alike(inputs.fallback, other.fallback)
    both = zip(other.rentals, other.priced_rentals, strict=True)
    return {one.key: (one, priced) for one, priced in both if falls_back_alike or not one.is_spot}

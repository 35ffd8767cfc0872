"""Why no accelerator can do the work, in one sentence. PURE."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from planner.sizing.candidates.fitness import exclusion
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import get

_NUMBER = re.compile(r"\d[\d,.]*")


def nothing_fits(excluded: Mapping[str, str]) -> str:
    """Why no accelerator can do the work: what those lack that hold it, then the commonest reason,
    of equals that of the most memory; those that are never proposed only where there are no others.
    Of reasons that differ in figures and names alone that of the fewest hours, else of the most
    memory, stands for all."""
    largest_first = sorted(excluded, key=lambda slug: -get(slug).memory_gib)
    of_the_work = [slug for slug in largest_first if excluded[slug] != exclusion(get(slug))]
    alike: dict[str, list[str]] = {}
    for slug in of_the_work or largest_first:
        alike.setdefault(_NUMBER.sub("", _without_name(excluded[slug], slug)), []).append(slug)
    groups = sorted(alike.values(), key=lambda g: (not _hours_of(excluded[g[0]]), -len(g)))[:3]
    if len(excluded) == 1:
        return f"no accelerator can do this work: {excluded[largest_first[0]]}"
    listed = "; ".join(_reason_of(slugs, excluded) for slugs in groups)
    return f"no accelerator can do this work: {listed}"


def _without_name(reason: str, slug: str) -> str:
    one = get(slug)
    return reason.replace(one.name_with_memory, "").replace(one.name, "")


def _reason_of(slugs: Sequence[str], excluded: Mapping[str, str]) -> str:
    first = min(slugs, key=lambda slug: _hours_of(excluded[slug]))
    if len({excluded[slug] for slug in slugs}) == 1:
        return f"{excluded[first]} ({pluralize(len(slugs), 'accelerator')})"
    others = len(slugs) - 1
    alike = f" ({pluralize(others, 'other accelerator')} fail{'' if others > 1 else 's'} likewise)"
    where = "" if get(first).name in excluded[first] else f"on {get(first).name} "
    return f"{where}{excluded[first]}{alike}"


def _hours_of(reason: str) -> float:
    """The hours that a reason begins with; 0 where it begins with none."""
    match = _NUMBER.match(reason)
    return float(match[0].replace(",", "")) if match else 0.0

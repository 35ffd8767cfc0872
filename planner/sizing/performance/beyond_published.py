"""Work far beyond every published run, which no range of published runs holds. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planner.contract.labels import BEYOND_ANY_CLUSTER, NO_RANGE_HERE

FAR = 2.0
"""Multiple of the largest published figure from which a range is not said to hold; a planning
choice, 2026."""
LARGEST_CLUSTER = 200_000
"""Accelerators of the largest known training clusters (xAI Colossus, 2025)."""
ROUGH_GUESS = f"take the hours as a rough guess; their range {NO_RANGE_HERE}"
UNBACKED = f"the range of the hours comes from published runs and {NO_RANGE_HERE}"
"""The same where a team gives its own rate."""


_USUAL_NAMES = {
    "deepseek-v3": "DeepSeek-V3",
    "glam-64b-64e": "GLaM 64B/64E",
    "llama3.1-405B": "Llama 3.1 405B",
    "palm-540B": "PaLM 540B",
}
"""What people call the largest of the published runs (their papers, 2021-2024)."""


@dataclass(frozen=True)
class Largest:
    """The largest figure of the published runs of a kind, and the run that has it."""

    amount: float
    run: str
    kind: str
    """`training of a dense model`."""

    @classmethod
    def of(cls, figures: Iterable[tuple[float | None, str]], kind: str) -> Largest:
        """The largest of the figures that are known, each with its run; at least one has to be.

        >>> Largest.of([(8, "small"), (None, "silent"), (64, "large")], "run").run
        'large'
        """
        amount, run = max((amount, run) for amount, run in figures if amount)
        return cls(amount, _USUAL_NAMES.get(run, run), kind)


def describe_far(
    parameters: float | None,
    largest_model: Largest,
    accelerators: int,
    largest_cluster: Largest,
    *,
    has_user_rate: bool,
) -> dict[str, str]:
    """What of `parameters` and `accelerators` is beyond the largest published figure by `FAR` or
    more, in words."""
    therefore = UNBACKED if has_user_rate else ROUGH_GUESS
    texts = {}
    if parameters is not None and parameters > FAR * largest_model.amount:
        texts["parameters"] = (
            f"{in_words(parameters)} parameters are {_times(parameters, largest_model)} "
            f"({largest_model.run}: {in_words(largest_model.amount)}): {therefore}"
        )
    if accelerators > FAR * largest_cluster.amount:
        never = f", and {_never_built()}" if accelerators > LARGEST_CLUSTER else ""
        texts["accelerators"] = (
            f"{accelerators:,} accelerators at once are {_times(accelerators, largest_cluster)} "
            f"({largest_cluster.run}: {largest_cluster.amount:,.0f}){never}: {therefore}"
        )
    return texts


def warn_never_built(accelerators: float) -> Iterator[str]:
    """That more accelerators work at once than any cluster is known to have.

    >>> list(warn_never_built(2e5))
    []
    """
    if accelerators > LARGEST_CLUSTER:
        yield (
            f"{accelerators:,.0f} accelerators at once are {_never_built()}: nobody has shown that "
            "so many can be had, powered and kept at work together."
        )


def _never_built() -> str:
    return f"{BEYOND_ANY_CLUSTER} (about {LARGEST_CLUSTER:,})"


def _times(amount: float, largest: Largest) -> str:
    ratio = float(f"{amount / largest.amount:.2g}")
    return f"{ratio:,g} times as many as in the largest published {largest.kind}"


_SCALES = {"trillion": 12, "billion": 9, "million": 6}
"""Powers of ten with a name, the largest first, in 2026 as ever."""


def in_words(amount: float) -> str:
    """A large number in three digits.

    >>> in_words(1e13), in_words(540_350_000_000), in_words(7.04e7), in_words(1e15), in_words(5e4)
    ('10 trillion', '540 billion', '70.4 million', '1,000 trillion', '50,000')
    """
    rounded = float(f"{amount:.3g}")
    for name, power in _SCALES.items():
        if rounded >= 10**power:
            return f"{rounded / 10**power:,g} {name}"
    return f"{rounded:,g}"

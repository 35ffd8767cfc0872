"""Money against time: which accelerators no other beats in both. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.contract.answer.estimate import EstimateAnswer, EstimateCandidate
from planner.sizing.candidates.other_chips import with_rents

CHEAPEST, FASTEST, KNEE, FRONT = "cheapest", "fastest", "knee", "front"
"""What a card is on the Pareto front; the knee is where neither can be had for little more of the
other."""


def find_front(points: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Names of the points that no other beats in money and time, and what each is there.

    The knee is the point next to the best of both, money and time taken as logarithms over the
    width of the front; of one that is cheapest and fastest it is said that it is the cheapest.

    >>> find_front({"a": (100, 10), "b": (130, 2), "c": (400, 1), "d": (150, 11)})
    {'a': 'cheapest', 'b': 'knee', 'c': 'fastest'}
    """
    ordered = sorted(points.items(), key=lambda item: (item[1], item[0]))
    front: list[str] = []
    quickest = math.inf
    for name, (_, hours) in ordered:
        if hours < quickest:
            front.append(name)
            quickest = hours
    places = dict.fromkeys(front, FRONT)
    if len(front) > 2:
        places[_knee([(name, points[name]) for name in front])] = KNEE
    if front:
        places[front[-1]] = FASTEST
        places[front[0]] = CHEAPEST
    return places


@dataclass(frozen=True)
class _Rented:
    """One run of a candidate on rented machines."""

    usd: float
    accelerators: int
    hours: float


def with_prices(
    answer: EstimateAnswer,
    usd_per_hour: Callable[[str], float | None],
    at_work: Callable[[str, int], int] = lambda _, used: used,
) -> EstimateAnswer:
    """The answer with what renting each candidate for one run costs, and its place on the front:
    its time is that on the accelerators of the rented machines, `at_work` of those it uses."""
    rented = {
        one.accelerator: _rented(one.accelerator_hours, price, at_work(one.accelerator, used))
        for one in answer.candidates
        if one.accelerator_hours
        and (used := one.accelerators)
        and (price := usd_per_hour(one.accelerator)) is not None
    }
    front = find_front({slug: (one.usd, one.hours) for slug, one in rented.items()})
    candidates = tuple(_priced(one, rented, front) for one in answer.candidates)
    times = _times_one_run(answer)
    rents = {slug: one.usd * times for slug, one in rented.items()}
    chips = tuple(with_rents(chip, rents) for chip in answer.chips)
    words = tuple(chip.words for chip in chips)
    return answer.model_copy(
        update={"candidates": candidates, "chips": chips, "other_chips": words}
    )


def _rented(hours: float, usd_per_hour: float, accelerators: int) -> _Rented:
    return _Rented(hours * usd_per_hour, accelerators, hours / accelerators)


def _times_one_run(answer: EstimateAnswer) -> float:
    """Hours of all runs, attempts and trials over those of one run, over which a port is spread."""
    one_run = (answer.wall_clock_hours or 0.0) * answer.accelerators
    return answer.accelerator_hours.p50 / one_run if one_run else float(answer.runs)


def _priced(
    one: EstimateCandidate, rented: Mapping[str, _Rented], front: Mapping[str, str]
) -> EstimateCandidate:
    run = rented.get(one.accelerator)
    if run is None:
        return one
    return one.model_copy(
        update={
            "rent_usd": run.usd,
            "rented_accelerators": run.accelerators,
            "rented_wall_clock_hours": run.hours,
            "choice": front.get(one.accelerator),
        }
    )


def _knee(front: list[tuple[str, tuple[float, float]]]) -> str:
    """The inner point of a front nearest to its cheapest money and its shortest time."""
    money, hours = ([math.log(max(p[i], 1e-9)) for _, p in front] for i in (0, 1))

    def distance(i: int) -> float:
        over = [
            (values[i] - min(values)) / (max(values) - min(values)) for values in (money, hours)
        ]
        return math.hypot(*over)

    return front[min(range(1, len(front) - 1), key=distance)][0]

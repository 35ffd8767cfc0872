"""How well serving predicts measured rates of teams that its constants have not seen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from planner.sizing.evidence.served_model import ServingMeasurement, serving_measurements
from planner.sizing.serving.serving_plan import Engine, fewest_for, replica_on
from pricing.market.accelerators import get

FITTED = (
    "bandwidth_share",
    "decode_share",
    "prefill_share",
    "link_share",
    "message_seconds",
    "host_seconds",
    "most_sequences",
)
SHARES = ("bandwidth_share", "decode_share", "prefill_share")
STEPS = (1.5, 1.25, 1.1, 1.05)
"""Factors by which the search moves one constant at a time."""
NEUTRAL = Engine(
    bandwidth_share=0.7,
    decode_share=0.6,
    prefill_share=0.6,
    link_share=0.3,
    message_seconds=2e-5,
    host_seconds=1e-5,
    most_sequences=300.0,
    slower={"tuned": 1.0, "standard": 1.5, "plain": 3.0},
    latency_share={"offline": 1.0, "server": 0.8, "interactive": 0.5},
)
"""Where each search begins, so that nothing of the rows left out is in it."""
MOST_ERROR = 1.0
"""ln error beyond which a row pulls no further."""


def log_error(row: ServingMeasurement, engine: Engine | None = None) -> float:
    """ln(measured / predicted) of one row: an instance of its own where the sequences at once are
    stated, else copies of the smallest replica."""
    one = get(row.accelerator)
    count = row.accelerators
    if row.load.sequences is None:
        count = min(count, fewest_for(row.model, one, row.precision))
    placed = replica_on(row.model, one, row.precision, row.load, count, engine)
    assert placed is not None, row
    return math.log(row.tokens_per_second / placed.tokens_per_second)


def fit(rows: Sequence[ServingMeasurement], start: Engine = NEUTRAL) -> Engine:
    """Constants that bring the errors of `rows` down, each team by the root of its rows."""
    best = start
    lowest = _loss(rows, best)
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for engine in _neighbours(best, step):
                loss = _loss(rows, engine)
                if loss < lowest - 1e-5:
                    best, lowest, moved = engine, loss, True
    return best


def _neighbours(engine: Engine, step: float) -> list[Engine]:
    found = []
    for factor in (step, 1 / step):
        for name in FITTED:
            value = getattr(engine, name) * factor
            if name not in SHARES or value <= 0.95:
                found.append(replace(engine, **{name: value}))
        for group in ("slower", "latency_share"):
            table = getattr(engine, group)
            for key in table:
                if key not in ("tuned", "offline"):
                    found.append(replace(engine, **{group: {**table, key: table[key] * factor}}))
    return found


def _loss(rows: Sequence[ServingMeasurement], engine: Engine) -> float:
    of_team = Counter(row.team for row in rows)
    weights = [1 / math.sqrt(of_team[row.team]) for row in rows]
    errors = [min(MOST_ERROR, abs(log_error(row, engine))) for row in rows]
    return sum(w * e for w, e in zip(weights, errors, strict=True)) / sum(weights)


def held_out() -> list[float]:
    """ln(measured / predicted) of every rate, by constants fitted without its team."""
    rows, errors = serving_measurements(), []
    for team in dict.fromkeys(row.team for row in rows):
        engine = fit([row for row in rows if row.team != team])
        errors += [log_error(row, engine) for row in rows if row.team == team]
    return errors

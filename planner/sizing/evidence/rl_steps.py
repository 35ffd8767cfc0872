"""Measured steps of reinforcement learning: what rollouts are fitted to and judged by. PURE.

`rl_steps.csv` holds one measured step a row: rollouts, scoring, training and whatever lies between.
Rows that do not state the answers of a step or their length are not in it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.contract.validation import parse

_TABLE = Path(__file__).with_name("rl_steps.csv")


@dataclass(frozen=True)
class RlStep:
    """One step, as the training of its tokens."""

    run: str
    team: str
    training: Training
    accelerator: str
    accelerators: int
    step_seconds: float
    note: str


@cache
def rl_steps() -> tuple[RlStep, ...]:
    """Every row of the table.

    >>> len(rl_steps()), len({step.team for step in rl_steps()})
    (26, 2)
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_step(row) for row in csv.DictReader(lines))


def _step(row: dict[str, str]) -> RlStep:
    prompt, response = int(row["prompt_tokens"]), int(row["response_tokens"])
    count = int(row["rollouts_per_step"])
    critic = row["critic_parameters"]
    tokens = float(count * (prompt + response))
    request = {
        "kind": "training",
        "tokens": tokens,
        "global_batch_tokens": tokens,
        "stage": "fine_tuning",
        "sequence_length": int(row["sequence_length"]),
        "precision": row["precision"],
        "rollouts": {
            "response_tokens": response,
            "prompt_tokens": prompt,
            "per_step": count,
            "engine": row["engine"],
            **({"critic_parameters": float(critic)} if critic else {}),
        },
        **({"model": row["model"]} if row["model"] else {"parameters": float(row["parameters"])}),
    }
    return RlStep(
        run=row["run"],
        team=row["team"],
        training=parse(Training, request),
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        step_seconds=float(row["step_seconds"]),
        note=row["note"],
    )

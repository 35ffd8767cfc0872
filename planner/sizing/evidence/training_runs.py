"""Published training runs: what the estimator is calibrated on and judged by. PURE.

`published_runs.csv` holds one run a row, distilled from model cards and papers: the work as
parameters and tokens (or FLOPs), the accelerators, and the accelerator-hours that were used.
Quality A is fully stated, B has a rounded or assumed figure, X contradicts itself. `unverified`
names the fields that no source was seen for; an A100 without its memory is taken as 80 GB, an
H800 as an H100.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.models.count_parameters import ModelFigures
from planner.contract.models.known_models import known_by_name
from planner.contract.request.workload import Training
from planner.contract.validation import parse

_CLUSTER_SCALING_TABLE = Path(__file__).with_name("cluster_scaling.csv")
ONE_NODE = 8
"""Accelerators up to which a job stays in one node (HGX and DGX, NVIDIA, 2017-2025)."""


@cache
def cluster_slope() -> float:
    """Change of ln rate of one accelerator with ln of their number: mean of the table, where the
    same code ran on 8 and on 128.

    >>> -0.02 < cluster_slope() < 0
    True
    """
    with _CLUSTER_SCALING_TABLE.open(newline="", encoding="utf-8") as lines:
        slopes = [
            math.log(float(row["speed_of_one"])) / math.log(int(row["large"]) / int(row["small"]))
            for row in csv.DictReader(lines)
        ]
    return sum(slopes) / len(slopes)


def cluster_share(accelerators: float) -> float:
    """Rate of one accelerator among n over its rate in one node.

    >>> cluster_share(8), 0.97 < cluster_share(128) < 1
    (1.0, True)
    """
    return math.exp(cluster_slope() * math.log(max(accelerators, ONE_NODE) / ONE_NODE))


_RL_STEPS_TABLE = Path(__file__).with_name("rl_steps.csv")


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
    with _RL_STEPS_TABLE.open(newline="", encoding="utf-8") as lines:
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


_FRAMEWORK_THROUGHPUT_TABLE = Path(__file__).with_name("framework_throughput.csv")
_WHOLE = (
    "layers",
    "hidden_size",
    "vocabulary_size",
    "sequence_length",
    "micro_batch_size",
    "zero_stage",
    "active_parameters",
)


@dataclass(frozen=True)
class FrameworkRate:
    """One measurement, as the training it was."""

    framework: str
    model: str
    training: Training
    accelerator: str
    accelerators: int
    tokens_per_second: float
    """Of one accelerator, of steps alone."""
    note: str
    source: str
    code: str
    """How well tuned: vendors' own figures are hand-tuned, released frameworks standard."""


@cache
def framework_rates() -> tuple[FrameworkRate, ...]:
    """Every row of the table.

    >>> len(framework_rates())
    209
    """
    with _FRAMEWORK_THROUGHPUT_TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_rate(row) for row in csv.DictReader(lines))


def _rate(row: dict[str, str]) -> FrameworkRate:
    is_adapter = row["optimizer"] in ("lora", "qlora")
    request = {
        "kind": "training",
        "parameters": float(row["parameters"]),
        "tokens": 1e9 if is_adapter or row["stage"] else 1e12,
        "optimizer": row["optimizer"],
        "precision": row["precision"],
        "chunked_loss": row["framework"] == "torchtune",
        **({"activation_checkpointing": True} if row["checkpointing"] else {}),
        "is_classifier": row["is_classifier"] == "yes",
        **({"stage": row["stage"]} if row["stage"] else {}),
        **({"layout": {"tensor": int(row["tensor"])}} if row["tensor"] else {}),
        **{name: int(row[name]) for name in _WHOLE if row[name]},
    }
    return FrameworkRate(
        framework=row["framework"],
        model=row["model"],
        training=parse(Training, request),
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        tokens_per_second=float(row["tokens_per_second"]),
        note=row["note"],
        source=row["source"],
        code=row["code"],
    )


_FINETUNE_RUNS_TABLE = Path(__file__).with_name("finetune_runs.csv")


@dataclass(frozen=True)
class FinetuneRun:
    """One fine-tuning as published."""

    run: str
    team: str
    year: int
    training: Training
    precision: str
    accelerator: str
    accelerators: int
    accelerator_hours: float
    code: str
    tokens_are: str
    """stated or estimated, and how."""
    source: str

    @property
    def is_stated(self) -> bool:
        """Whether the tokens are the source's own."""
        return self.tokens_are.startswith("stated")


@cache
def finetune_runs() -> tuple[FinetuneRun, ...]:
    """Every row of the table.

    >>> len(finetune_runs()), finetune_runs()[0].run
    (55, 'alpaca-7b')
    """
    with _FINETUNE_RUNS_TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_finetune_runs_run(row) for row in csv.DictReader(lines))


def _finetune_runs_run(row: dict[str, str]) -> FinetuneRun:
    whole = ("layers", "hidden_size", "vocabulary_size", "sequence_length")
    request = {
        "kind": "training",
        "parameters": float(row["parameters"]),
        "tokens": float(row["tokens"]),
        "optimizer": row["optimizer"],
        "stage": "fine_tuning",
        "is_classifier": row["is_classifier"] == "yes",
        **{name: int(row[name]) for name in whole},
    }
    return FinetuneRun(
        run=row["run"],
        team=row["team"],
        year=int(row["year"]),
        training=parse(Training, request),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        code=row["code"] or "standard",
        tokens_are=row["tokens_are"],
        source=row["source"],
    )


_TABLE = Path(__file__).with_name("published_runs.csv")


@dataclass(frozen=True)
class PublishedRun:
    """One run as published; None where the source is silent."""

    run: str
    family: str
    """Runs of one team or code base: never used to predict one another in an evaluation."""
    year: int
    parameters: float | None
    active_parameters: float | None
    tokens: float | None
    sequence_length: int | None
    layers: int | None
    hidden_size: int | None
    training_flops: float | None
    """Given where tokens are not."""
    precision: str
    accelerator: str
    accelerators: int | None
    accelerator_hours: float
    mfu: float | None
    hfu: float | None
    hours_exclude_downtime: bool
    """True where the hours follow from a step time: they hold useful work alone."""
    quality: str
    unverified: tuple[str, ...]
    code: str
    """How well tuned the code was, by what its source says of it: hand_tuned, standard,
    first_version."""
    source: str
    note: str


def published_runs(qualities: str = "AB") -> tuple[PublishedRun, ...]:
    """The runs of the given qualities, in the order of the table.

    >>> len(published_runs()), [run.run for run in published_runs("X")]
    (152, ['vit-22B', 'llmc-gpt3-125M'])
    """
    return tuple(run for run in _runs() if run.quality in qualities)


@cache
def _runs() -> tuple[PublishedRun, ...]:
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_run(row) for row in csv.DictReader(lines))


def _run(row: dict[str, str]) -> PublishedRun:
    return PublishedRun(
        run=row["run"],
        family=row["family"],
        year=int(row["year"]),
        parameters=_number(row["parameters"]),
        active_parameters=_number(row["active_parameters"]),
        tokens=_number(row["tokens"]),
        sequence_length=_whole(row["sequence_length"]),
        layers=_whole(row["layers"]),
        hidden_size=_whole(row["hidden_size"]),
        training_flops=_number(row["training_flops"]),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=_whole(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        mfu=_number(row["mfu"]),
        hfu=_number(row["hfu"]),
        hours_exclude_downtime=row["hours_exclude_downtime"] == "yes",
        quality=row["quality"],
        unverified=tuple(part for part in row["unverified"].split(";") if part),
        code=row["code"],
        source=row["source"],
        note=row["note"],
    )


def _number(text: str) -> float | None:
    return float(text) if text else None


def _whole(text: str) -> int | None:
    return int(text) if text else None


WIDTHS = {"jetmoe-8b": 4096, "sutra-1.3B": 1280, "tucano2-qwen-0.5B": 2048}
"""Heads times their width of models that the table does not know or cannot count: of JetMoE 2
experts of 16 heads of 128 work on a token (jetmoe/jetmoe-8b config.json, 2024), Sutra has 16 heads
of 96 for keys and 64 for values (Abhisingh18/Sutra-1.3B-Model README.md @95c74ebf, 2026), Tucano 2
the 16 heads of 128 of Qwen3 0.6B (Qwen/Qwen3-0.6B config.json, 2025)."""
MODELS = {"mlperf6-gpt-oss-20b": "gpt-oss-20b", "mlperf6-deepseek-v3": "deepseek-v3"}
"""Models of runs by how the names of the runs begin."""


def with_attention(training: Training, name: str) -> Training:
    """A published training with the attention of its model, where the table of models knows it as
    wider, narrower or with windows and the source says nothing else of its shape; with layers and
    hidden size where the source says none.

    >>> run = Training(kind="training", parameters=671e9, active_parameters=37e9, tokens=1)
    >>> with_attention(run, "deepseek-v3").attention_width
    20480
    >>> with_attention(run, "some mixture").attention_width is None
    True
    """
    if name in WIDTHS:
        return training.model_copy(update={"attention_width": WIDTHS[name]})
    models = (model for begin, model in MODELS.items() if name.startswith(begin))
    figures = _figures(next(models, name))
    if figures is None:
        return training
    if figures.attention_width == figures.hidden_size and not figures.sliding_layers:
        return training
    shape = {"layers": figures.layers, "hidden_size": figures.hidden_size}
    if any(getattr(training, field) not in (None, size) for field, size in shape.items()):
        return training
    own = {
        "attention_width": figures.attention_width,
        "sliding_window": figures.sliding_window,
        "sliding_layers": figures.sliding_layers or None,
    }
    return training.model_copy(update=shape | own)


@cache
def _figures(name: str) -> ModelFigures | None:
    known = known_by_name(name)
    return known.figures if known else None

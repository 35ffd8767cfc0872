"""Published runs, rates and draws of power: what sizing is fitted to and judged by.

`published_runs.csv` holds one run a row, distilled from model cards and papers: the work as
parameters and tokens (or FLOPs), the accelerators, and the accelerator-hours that were used.
Quality A is fully stated, B has a rounded or assumed figure, X contradicts itself. `unverified`
names the fields that no source was seen for; an A100 without its memory is taken as 80 GB, an
H800 as an H100.

`sample_runs.csv` holds one run a row: its work as samples and FLOPs of a sample's forward pass, or
as FLOPs of the whole training. A row is not stated where its FLOPs were worked out from its hours,
or do not go with them; such rows are carried and neither fitted nor judged.

Most rows are whole trainings and measured rates of training on images,
chosen by a rule that looks at no error:

- whoever wrote the code states the images and the kind and number of accelerators; FLOPs are those
  of the same page or of a published table of the same architecture;
- left out: papers read at second hand, accelerators inferred, hours expected or rounded to a fifth
  or more of themselves, and rows whose source leaves epochs, nodes or the work of a step open;
- rows of one code alike in all but the number of images count once, the longest;
- of more than eight rows of one code eight stay, evenly spaced in order of FLOPs of an image,
  accelerator, precision and number of accelerators, the first and the last among them.

A precision that a page leaves out is the default of its code then. A team is who wrote the code.
Where an image is passed more or less than once forward and backward (a frozen copy, patches left
out), the FLOPs are those of what is passed, over 3; each crop of an image is a sample.

`code` follows from what a source says of its code, and from nothing else: `hand_tuned` where speed
was its aim (a vendor's own benchmark or examples of performance, an entry in a contest for training
time, a library or rewrite that says it is faster), `first_version` where it is the code that one
paper was published with, else `standard`: a library or framework that others use, or its example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.models.count_parameters import ModelFigures
from planner.contract.models.known_models import known_by_name
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing import evidence
from planner.sizing.evidence import typed
from planner.sizing.evidence.benchmarks import TRAINING_FACTOR


def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of a table beside this module, empty cells left out."""
    return evidence.read_rows(Path(__file__).with_name(f"{name}.csv"))


@dataclass(frozen=True)
class RlStep:
    """One step, as the training of its tokens."""

    run: str
    team: str
    training: Training
    accelerator: str
    accelerators: int
    step_seconds: float


@cache
def rl_steps() -> tuple[RlStep, ...]:
    """Every row of the table.

    >>> len(rl_steps()), len({step.team for step in rl_steps()})
    (26, 2)
    """
    rows = []
    for row in read_rows("rl_steps"):
        prompt, response = int(row["prompt_tokens"]), int(row["response_tokens"])
        count = int(row["rollouts_per_step"])
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
                **_numbers(row, float, "critic_parameters"),
            },
            **({"model": row["model"]} if "model" in row else _numbers(row, float, "parameters")),
        }
        rows.append(typed(RlStep, row | {"training": parse(Training, request)}))
    return tuple(rows)


def _numbers(row: Mapping[str, str], kind: type[int | float], *names: str) -> dict[str, float]:
    return {name: kind(row[name]) for name in names if name in row}


_SIZES = ("layers", "hidden_size", "vocabulary_size", "sequence_length")
_WHOLE = (*_SIZES, "micro_batch_size", "zero_stage", "active_parameters")


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
    code: str
    """How well tuned: NVIDIA's own recipes are benchmarks, other vendors' figures hand-tuned,
    released frameworks standard."""


@cache
def framework_rates() -> tuple[FrameworkRate, ...]:
    """Every row of the table.

    >>> len(framework_rates())
    260
    """
    rows = []
    for row in read_rows("framework_throughput"):
        is_adapter = row["optimizer"] in ("lora", "qlora")
        request = {
            "kind": "training",
            "parameters": float(row["parameters"]),
            "tokens": 1e9 if is_adapter or "stage" in row else 1e12,
            "optimizer": row["optimizer"],
            "precision": row["precision"],
            "chunked_loss": row["framework"] == "torchtune",
            **({"activation_checkpointing": True} if "checkpointing" in row else {}),
            "is_classifier": "is_classifier" in row,
            **({"stage": row["stage"]} if "stage" in row else {}),
            **({"layout": {"tensor": int(row["tensor"])}} if "tensor" in row else {}),
            **_numbers(row, int, *_WHOLE),
        }
        rows.append(typed(FrameworkRate, row | {"training": parse(Training, request)}))
    return tuple(rows)


@dataclass(frozen=True)
class FinetuneRun:
    """One fine-tuning as published."""

    run: str
    team: str
    training: Training
    precision: str
    accelerator: str
    accelerators: int
    accelerator_hours: float
    tokens_are: str
    """stated or estimated, and how."""
    year: int
    source: str
    code: str = "standard"

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
    rows = []
    for row in read_rows("finetune_runs"):
        request = {
            "kind": "training",
            "parameters": float(row["parameters"]),
            "tokens": float(row["tokens"]),
            "optimizer": row["optimizer"],
            "stage": "fine_tuning",
            "is_classifier": "is_classifier" in row,
            **_numbers(row, int, *_SIZES),
        }
        rows.append(typed(FinetuneRun, row | {"training": parse(Training, request)}))
    return tuple(rows)


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """One run as published; None where the source is silent."""

    run: str
    family: str
    """Runs of one team or code base: never used to predict one another in an evaluation."""
    year: int
    parameters: float | None = None
    active_parameters: float | None = None
    tokens: float | None = None
    sequence_length: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    training_flops: float | None = None
    """Given where tokens are not."""
    precision: str
    accelerator: str
    accelerators: int | None = None
    accelerator_hours: float
    mfu: float | None = None
    hfu: float | None = None
    hours_exclude_downtime: bool = False
    """True where the hours follow from a step time: they hold useful work alone."""
    quality: str
    code: str
    """How well tuned the code was, by what its source says of it: benchmark (a vendor's recipe or
    entry), hand_tuned, standard, first_version."""
    source: str


@cache
def published_runs(qualities: str = "AB") -> tuple[PublishedRun, ...]:
    """The runs of the given qualities, in the order of the table.

    >>> len(published_runs()), [run.run for run in published_runs("X")]
    (152, ['vit-22B', 'llmc-gpt3-125M'])
    """
    rows = (typed(PublishedRun, row) for row in read_rows("published_runs"))
    return tuple(run for run in rows if run.quality in qualities)


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
    hidden size where the source says none."""
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


IMAGES = ("detection", "vision classification", "vision-language", "vision", "image latents")
"""Domains of images, 2026."""


@dataclass(frozen=True, kw_only=True)
class SampleRun:
    """One run as published."""

    run: str
    team: str
    domain: str
    architecture: str = ""
    """convolutional, depthwise, transformer or detector; empty where its source leaves it open."""
    parameters: float | None = None
    forward_flops: float | None = None
    """Of one sample; None where only those of the whole training are known."""
    training_flops: float
    """Of all samples, forward and backward, at the size that the model is known by."""
    resized_share: float = 1.0
    """Part of them that the run did, as it trained on smaller images; 1 where it did not."""
    precision: str
    """mixed or fp32."""
    accelerator: str
    accelerators: int
    accelerator_hours: float
    is_stated: bool
    loader: str = ""
    """How images were read: hand_tuned (its source names a loader written for speed) or usual;
    empty where no images were."""
    code: str = ""
    """How well tuned the code is, as for trainings; empty where no images were."""

    @property
    def is_images(self) -> bool:
        """Whether it classifies, finds or embeds images."""
        return self.domain in IMAGES


@cache
def sample_runs() -> tuple[SampleRun, ...]:
    """Every row of the table.

    >>> sum(run.is_stated and run.is_images for run in sample_runs())
    139
    """
    runs = []
    for row in read_rows("sample_runs"):
        own: dict[str, object] = {}
        if "forward_gflops_per_sample" in row:
            forward = float(row["forward_gflops_per_sample"]) * 1e9
            total = TRAINING_FACTOR * forward * float(row["samples"])
            own = {"forward_flops": forward, "training_flops": total}
        runs.append(typed(SampleRun, row | own))
    return tuple(runs)


@dataclass(frozen=True)
class ServerPower:
    """One measured state of one server."""

    system: str
    accelerator: str
    accelerators: int
    state: str
    """training, inference, stress or waiting (model loaded, no work)."""
    watts: float
    mode: str
    """`default` where clocks and power limits are as delivered, not lowered for efficiency."""


@cache
def server_powers() -> tuple[ServerPower, ...]:
    """Every row of the table."""
    return tuple(typed(ServerPower, row) for row in read_rows("server_power"))

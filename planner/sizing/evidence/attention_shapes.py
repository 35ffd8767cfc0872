"""Attention of published models, by their names: heads, their width and windows. PURE."""

from __future__ import annotations

from functools import cache

from planner.contract.models.count_parameters import ModelFigures
from planner.contract.models.known_models import known_by_name
from planner.contract.request.workload import Training

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

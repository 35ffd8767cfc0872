"""The sizes of a named or pasted model as the fields of a training. PURE."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from planner.contract.models.count_parameters import ModelFigures, read_config
from planner.contract.models.known_models import find_model
from pricing.common.invalid_input import InvalidInput
from pricing.common.typed_number import plain_number

_SIZE = re.compile(r"^(\d[\d.,]{0,12})\s*(m|million|b|bn|billion|t|trillion)$", re.IGNORECASE)
_FIGURE = re.compile(r"\d{1,6}(?:\.\d{1,6})?")
_MAGNITUDES = {"m": 1e6, "b": 1e9, "t": 1e12}


def read_size(name: str) -> float | None:
    """Parameters of a model called by its size alone; None for any other name.

    >>> read_size("7B"), read_size("1.5 billion"), read_size("350m"), read_size("Llama-3.1-8B")
    (7000000000.0, 1500000000.0, 350000000.0, None)
    >>> read_size("7,5B"), read_size("1,300M"), read_size("7.5.1B")
    (7500000000.0, 1300000000.0, None)
    """
    match = _SIZE.match(name.strip())
    figure = plain_number(match[1]) if match else ""
    if match is None or not _FIGURE.fullmatch(figure):
        return None
    return float(figure) * _MAGNITUDES[match[2][0].lower()]


def fill_from_model(data: Mapping[str, object]) -> Mapping[str, object]:
    """`data` with what its `model` or `config` says where `data` itself is silent.

    >>> filled = fill_from_model({"model": "Mixtral-8x7B-v0.1", "tokens": 1e9})
    >>> round(filled["parameters"] / 1e9, 1), round(filled["active_parameters"] / 1e9, 1)
    (46.7, 12.9)
    >>> fill_from_model({"model": "7B", "tokens": 1e9})["parameters"]
    7000000000.0
    """
    name, config = data.get("model"), data.get("config")
    if name is not None and config is not None:
        raise InvalidInput("config", "is given beside a model; allowed is one of the two")
    size = read_size(name) if isinstance(name, str) else None
    if size is not None:
        return {**data, "parameters": data.get("parameters") or size}
    sizes = figures_of(name, config, data.get("parameters") is not None)
    if sizes is None:
        return data
    stated = {field: value for field, value in data.items() if value is not None}
    return {**_fields(sizes, stated.get("is_classifier") is True), **stated}


def figures_of(name: object, config: object, is_size_given: bool = False) -> ModelFigures | None:
    """Figures of a model by its name, which is no size, or by its config, whose uncounted layers
    are left aside where the request gives the parameters; None without either."""
    if isinstance(name, str) and name:
        return find_model(name).figures
    if isinstance(config, str | Mapping):
        text = config if isinstance(config, str) else _text(config)
        return read_config(text, is_size_given)
    return None


def count_input_at_work(name: object, config: object, active_parameters: float) -> float:
    """Parameters active on a token of a model that classifies, with its input embedding where the
    family's published figure leaves it out, as those of every other family have it; as they are
    where a team states its own.

    >>> round(count_input_at_work("gpt-oss-20b", None, 3.03e9) / 1e9, 2)
    3.03
    """
    if name is not None and read_size(str(name)) is not None:
        return active_parameters
    figures = figures_of(name, config, is_size_given=True)
    if figures is None or not figures.uncounted_input:
        return active_parameters
    filled = figures.active_parameters - figures.output_parameters
    is_filled = active_parameters == float(filled)
    return float(filled + figures.uncounted_input) if is_filled else active_parameters


@dataclass(frozen=True)
class Context:
    """The longest sequence of a model."""

    tokens: int
    is_learned: bool
    """Whether it has no position beyond them."""


@lru_cache(maxsize=64)
def fields_before(
    config: str, is_classifier: bool, edition: int
) -> tuple[tuple[str, object, object], ...]:
    """Fields that a config fills otherwise than under an edition of the rules: each with what it
    is now, and what it was."""
    readings = (
        _fields(read_config(config, True, *editions), is_classifier)
        for editions in ((), (edition,))
    )
    now, before = readings
    names = dict.fromkeys((*now, *before))
    pairs = ((name, now.get(name), before.get(name)) for name in names)
    return tuple((name, new, old) for name, new, old in pairs if new != old)


@lru_cache(maxsize=64)
def context_of(name: str | None, config: str | None) -> Context | None:
    """Context of a model by its name or its config's text; None where neither says.

    >>> context_of("gpt2", None), context_of("7B", None), context_of(None, None)
    (Context(tokens=1024, is_learned=True), None, None)
    """
    if name is not None and read_size(name) is not None:
        return None
    figures = figures_of(name, config, is_size_given=True)
    if figures is None or not figures.positions:
        return None
    return Context(figures.positions, figures.has_learned_positions)


def count_heads(name: str | None, config: str | None, width: int | None) -> int | None:
    """Heads of attention of a model `width` wide by its name or config; None where they are not
    known or the request says another width than the model has.

    >>> count_heads("falcon-7b", None, 4544), count_heads("falcon-7b", None, 4096)
    (71, None)
    >>> count_heads("7B", None, 4096), count_heads(None, None, None)
    (None, None)
    """
    if name is not None and read_size(name) is not None:
        return None
    figures = figures_of(name, config, is_size_given=True)
    return figures.heads or None if figures and figures.hidden_size == width else None


def is_encoder(name: str | None, config: str | None) -> bool:
    """Whether a model, by its name or config, reads texts and writes none.

    >>> is_encoder("BERT-base", None), is_encoder("Llama-3.1-8B", None), is_encoder("7B", None)
    (True, False, False)
    """
    if name is not None and read_size(name) is not None:
        return False
    figures = figures_of(name, config, is_size_given=True)
    return bool(figures and figures.is_encoder)


def _text(config: Mapping[str, object]) -> str:
    try:
        return json.dumps(config)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("config", "is not JSON; paste the model's config.json whole") from error


def _fields(figures: ModelFigures, is_classifier: bool) -> dict[str, object]:
    """Figures as the request's fields, without its output of one that classifies; None is left
    out."""
    output = figures.output_parameters if is_classifier else 0
    active = figures.active_parameters - output
    fields: dict[str, object] = {
        "parameters": float(figures.parameters - output),
        "active_parameters": float(active) if figures.experts else None,
        "layers": figures.layers,
        "hidden_size": figures.hidden_size,
        "attention_width": figures.attention_width or None,
        "vocabulary_size": figures.vocabulary_size,
        "experts": figures.experts,
        "experts_per_token": figures.experts_per_token,
        "feed_forward_size": figures.feed_forward_size,
        "is_gated": figures.is_gated,
        "cached_values_per_layer": figures.cached_values,
        "sliding_window": figures.sliding_window,
        "sliding_layers": figures.sliding_layers or None,
    }
    return {name: value for name, value in fields.items() if value is not None}

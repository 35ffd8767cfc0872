"""Well-known models by name, with their sizes and published parameters. PURE.

`known_models.csv` holds the sizes of one model a row, as its config says them; parameters are
counted from them as from a pasted config. `unverified` names what no source was seen for, `all`
where the whole row is the commonly published one.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from planner.contract.copies import replace
from planner.contract.models.config import (
    AS_SAMPLES,
    HALF_THE_TOKENS,
    IN_ITS_PLACE,
    NOT_JSON,
    STATE_WINDOW,
    config_keys,
)
from planner.contract.models.count_parameters import ModelFigures, read_config
from planner.contract.typed_numbers import plain_number
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows

_OTHER_WORK = (
    (
        re.compile(
            r"\b(flux|sdxl|sd3|stable[- ]diffusion|wan2|hunyuanvideo|dit|unet|vit|clip|siglip2?"
            r"|dinov[23]|yolo\w*|resnet\w*|whisper|wav2vec2|hubert|efficientnet\w*|mobilenet\w*"
            r"|convnext\w*|swin\w*|segformer|segment[- ]anything|sam2?|detr|mask[- ]?r-?cnn|dlrm"
            r"|deepfm|wide[- ]and[- ]deep|(alpha|open|rosetta|esm)fold\d?)\b",
            re.IGNORECASE,
        ),
        f"is no model of text; {AS_SAMPLES}",
    ),
    (
        re.compile(r"\bu?m?t5\b|\bm?bart\b", re.IGNORECASE),
        f"has two stacks, which are not counted; {IN_ITS_PLACE}, {HALF_THE_TOKENS}",
    ),
    (
        re.compile(r"mamba|\b(jamba|rwkv|xlstm|recurrentgemma)", re.IGNORECASE),
        f"is no transformer; {IN_ITS_PLACE}, and as many sliding_layers with a sliding_window of "
        f"{STATE_WINDOW}, whose work is about theirs",
    ),
)
"""Names of models that are no decoder or encoder of text → what to do instead."""
_VARIANTS = (
    r"hf|base|it|pt|instruct|chat|thinking|v0\.1|(?:0[1-9]|1[0-2]|2[3-6])\d\d|cased|uncased"
    "|fp8|awq|gptq|gguf|bnb|4bit|8bit|int4|int8"
)
"""Words of a name that change no size: forms of training and of weights, and dates as month and day
or year and month (names at huggingface.co, 2025)."""
_TABLE = Path(__file__).with_name("known_models.csv")


@dataclass(frozen=True)
class KnownModel:
    name: str
    config: str
    """Its sizes as the text of a config."""
    published_parameters: float | None
    published_active: float | None
    unverified: tuple[str, ...]
    year: int
    source: str

    @property
    def figures(self) -> ModelFigures:
        return read_config(self.config)


def find_model(name: str) -> KnownModel:
    """The model of that name, its maker's prefix and punctuation aside; refuses, on `model`, an
    unknown one with the closest.

    >>> find_model("meta-llama/Llama-3.1-8B").figures.layers
    32
    >>> find_model("llama 3")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: model: 'llama 3' is not known; closest are ...
    """
    match = known_by_name(name)
    if match is not None:
        return match
    for pattern, words in _OTHER_WORK:
        if pattern.search(name):
            raise InvalidInput("model", f"{name!r} {words}")
    near = difflib.get_close_matches(_key(name), _by_key(), n=4, cutoff=0.4)
    listed = ", ".join(dict.fromkeys(_by_key()[key].name for key in near)) or ", ".join(
        list(model_names())[:4]
    )
    raise InvalidInput(
        "model", f"{name!r} is not known; closest are {listed}; a config.json can be pasted"
    )


def known_by_name(name: str) -> KnownModel | None:
    """The model of that name, its maker's prefix and punctuation aside; None for an unknown one.

    >>> known_by_name("qwen3 30b-a3b").name, known_by_name("llama 3")
    ('Qwen3-30B-A3B', None)
    """
    return _by_key().get(_key(name))


@cache
def known_models() -> tuple[KnownModel, ...]:
    """Every row of the table.

    >>> len(known_models()) >= 60
    True
    """
    return tuple(_model(row) for row in read_rows(_TABLE))


def model_names() -> tuple[str, ...]:
    return tuple(model.name for model in known_models())


@cache
def _by_key() -> dict[str, KnownModel]:
    rows = {_key(model.name): model for model in known_models()}
    return {**{_key(row["name"]): _same_shape(rows, row) for row in same_shapes()}, **rows}


def same_shapes() -> tuple[dict[str, str], ...]:
    """Other names of a model's shapes, with what their configs say otherwise; "none" of a field
    that they lack, or whose value no sequence reaches (the window of 262,144 tokens of
    Phi-3-mini-128k and Phi-3.5-mini). From configs and model cards at huggingface.co, 2019-2025."""
    return tuple(read_rows(_TABLE.with_name("same_shapes.csv")))


def _same_shape(models: Mapping[str, KnownModel], row: Mapping[str, str]) -> KnownModel:
    twin = models[_key(row["model"])]
    sizes = json.loads(twin.config)
    for name, keys in config_keys().items():
        if text := row.get(name):
            sizes[keys.keys[0]] = int(text) if text.isdecimal() else None
    stated = {field: value for field, value in sizes.items() if value is not None}
    return replace(twin, config=json.dumps(stated))


def _key(name: str) -> str:
    """A name without maker, case, punctuation, dates and the words that mark a variant of one size
    or a form of its weights.

    >>> _key("Qwen/Qwen3-4B-Instruct-2507") == _key("unsloth/Qwen3-4B-bnb-4bit") == _key("Qwen3 4B")
    True
    """
    bare = name.rsplit("/", 1)[-1].casefold().removeprefix("meta-")
    bare = re.sub(rf"[-_ ]({_VARIANTS})(?=$|[-_ ])", "", bare)
    return re.sub(r"[^a-z0-9.]", "", bare)


def _model(row: dict[str, str]) -> KnownModel:
    config: dict[str, object] = {"model_type": row["family"]}
    known = config_keys().items()
    config |= {keys.keys[0]: int(row[name]) for name, keys in known if row.get(name)}
    config["tie_word_embeddings"] = row["tied"] == "yes"
    return KnownModel(
        name=row["name"],
        config=json.dumps(config),
        published_parameters=float(row["published_parameters"] or 0) or None,
        published_active=float(row["published_active"] or 0) or None,
        unverified=tuple(part for part in row["unverified"].split(";") if part),
        year=int(row["year"]),
        source=row["source"],
    )


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
        try:
            text = config if isinstance(config, str) else json.dumps(config)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("config", NOT_JSON) from error
        return read_config(text, is_size_given)
    return None


def _figures_beside(name: object, config: object) -> ModelFigures | None:
    """The same beside sizes that the request gives; None for a model called by its size alone."""
    is_size = isinstance(name, str) and read_size(name) is not None
    return None if is_size else figures_of(name, config, is_size_given=True)


def count_input_at_work(name: object, config: object, active_parameters: float) -> float:
    """Parameters active on a token of a model that classifies, with its input embedding where the
    family's published figure leaves it out, as those of every other family have it; as they are
    where a team states its own.

    >>> round(count_input_at_work("gpt-oss-20b", None, 3.03e9) / 1e9, 2)
    3.03
    """
    figures = _figures_beside(name, config)
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
def context_of(name: str | None, config: str | None) -> Context | None:
    """Context of a model by its name or its config's text; None where neither says.

    >>> context_of("gpt2", None), context_of("7B", None), context_of(None, None)
    (Context(tokens=1024, is_learned=True), None, None)
    """
    figures = _figures_beside(name, config)
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
    figures = _figures_beside(name, config)
    return figures.heads or None if figures and figures.hidden_size == width else None


def is_encoder(name: str | None, config: str | None) -> bool:
    """Whether a model, by its name or config, reads texts and writes none.

    >>> is_encoder("BERT-base", None), is_encoder("Llama-3.1-8B", None), is_encoder("7B", None)
    (True, False, False)
    """
    figures = _figures_beside(name, config)
    return bool(figures and figures.is_encoder)


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

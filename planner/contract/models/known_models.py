"""Well-known models by name, with their sizes and published parameters. PURE.

`known_models.csv` holds the sizes of one model a row, as its config says them; parameters are
counted from them as from a pasted config. `unverified` names what no source was seen for, `all`
where the whole row is the commonly published one.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.models.config_fields import NAMES
from planner.contract.models.count_parameters import ModelFigures, read_config
from planner.contract.models.same_shapes import OWN_FIELDS, SAME_SHAPES
from planner.contract.models.uncounted import (
    AS_SAMPLES,
    HALF_THE_TOKENS,
    IN_ITS_PLACE,
    STATE_WINDOW,
)
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput

_OTHER_WORK = (
    (
        re.compile(
            r"\b(flux|sdxl|sd3|stable[- ]diffusion|wan2|hunyuanvideo|dit|unet|vit|clip|siglip2?"
            r"|dinov[23]|yolo\w*|resnet\w*|whisper|wav2vec2|hubert|efficientnet\w*|mobilenet\w*"
            r"|convnext\w*|swin\w*|segformer|segment[- ]anything|sam2?|detr|mask[- ]?r-?cnn)\b",
            re.IGNORECASE,
        ),
        f"makes or reads images or sound; {AS_SAMPLES}",
    ),
    (
        re.compile(r"\bu?m?t5\b|\bm?bart\b", re.IGNORECASE),
        f"has two stacks, which are not counted; {IN_ITS_PLACE}, {HALF_THE_TOKENS}",
    ),
    (
        re.compile(r"\b(dlrm|deepfm|wide[- ]and[- ]deep|(alpha|open|rosetta|esm)fold\d?)\b", re.I),
        f"is no language model; {AS_SAMPLES}, better a measured rate",
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
    """One model of the table."""

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
        """What its config says."""
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
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_model(row) for row in csv.DictReader(lines))


def model_names() -> tuple[str, ...]:
    """Names of the table, in its order."""
    return tuple(model.name for model in known_models())


@cache
def _by_key() -> dict[str, KnownModel]:
    rows = {_key(model.name): model for model in known_models()}
    others = {
        _key(other): _with_own_fields(rows[_key(name)], other)
        for name, same in SAME_SHAPES.items()
        for other in same
    }
    return {**others, **rows}


def _with_own_fields(twin: KnownModel, name: str) -> KnownModel:
    """A model with the shapes of its twin and what its own config says otherwise."""
    own = {NAMES[field][0]: value for field, value in OWN_FIELDS.get(name, {}).items()}
    sizes = {**json.loads(twin.config), **own}
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
    config |= {NAMES[name][0]: int(row[name]) for name in NAMES if row.get(name)}
    config["tie_word_embeddings"] = row["tied"] == "yes"
    return KnownModel(
        name=row["name"],
        config=json.dumps(config),
        published_parameters=_number(row["published_parameters"]),
        published_active=_number(row["published_active"]),
        unverified=tuple(part for part in row["unverified"].split(";") if part),
        year=int(row["year"]),
        source=row["source"],
    )


def _number(text: str) -> float | None:
    return float(text) if text else None

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
from pricing.common.invalid_input import InvalidInput

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
    match = _by_key().get(_key(name))
    if match is not None:
        return match
    near = difflib.get_close_matches(_key(name), _by_key(), n=4, cutoff=0.4)
    listed = ", ".join(_by_key()[key].name for key in near) or ", ".join(list(model_names())[:4])
    raise InvalidInput(
        "model", f"{name!r} is not known; closest are {listed}; a config.json can be pasted"
    )


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
    return {_key(model.name): model for model in known_models()}


def _key(name: str) -> str:
    """A name without maker, case, punctuation and the words that mark a variant of one size."""
    bare = name.rsplit("/", 1)[-1].casefold()
    bare = re.sub(r"[-_ ](hf|base|it|instruct|chat|v0\.1|1124)(?=$|[-_ ])", "", bare)
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

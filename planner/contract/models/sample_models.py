"""Models of images and sound by name, with the work of a sample and their parameters. PURE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_table

_TABLE = Path(__file__).with_name("sample_models.csv")


@dataclass(frozen=True)
class SampleModel:
    name: str
    other_names: tuple[str, ...]
    sample: str
    """What a sample of it is."""
    forward_gflops: float
    """Of the forward pass, two operations for each multiply-add."""
    parameters: float
    architecture: str
    benchmarks: tuple[str, ...]
    """Benchmarks that train it."""


@cache
def sample_models() -> dict[str, SampleModel]:
    """Name without case and punctuation → model."""
    models = read_table(_TABLE, SampleModel)
    return {_key(name): one for one in models for name in (one.name, *one.other_names)}


def find_sample_model(name: str) -> SampleModel | None:
    """The model of that name, its maker's prefix and punctuation aside.

    >>> find_sample_model("openai/whisper-large-v3").name, find_sample_model("resnet152").name
    ('Whisper-large', 'ResNet-152')
    """
    return sample_models().get(_key(name.rsplit("/", 1)[-1]))


def model_of_benchmark(workload: str) -> SampleModel | None:
    return next((one for one in sample_models().values() if workload in one.benchmarks), None)


def fill_from_sample_model(data: Mapping[str, object]) -> Mapping[str, object]:
    """`data` with what its `model` says where `data` itself is silent; a measured rate holds what
    the architecture says.

    >>> fill_from_sample_model({"model": "SDXL"})["parameters"]
    2567000000.0
    """
    name = data.get("model")
    if not isinstance(name, str):
        return data
    model = find_sample_model(name)
    if model is None:
        known = ", ".join(dict.fromkeys(one.name for one in sample_models().values()))
        raise InvalidInput(
            "model",
            f"{name!r} is not known; allowed are {known}; any other is described by "
            "forward_gflops_per_sample and parameters",
        )
    stated = {field: value for field, value in data.items() if value is not None}
    filled = {
        "forward_gflops_per_sample": model.forward_gflops,
        "parameters": model.parameters,
        "architecture": model.architecture,
    }
    if stated.keys() & {"benchmark", "samples_per_second"}:
        del filled["architecture"]
    return filled | stated


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.casefold())

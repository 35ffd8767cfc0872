"""Ready examples: each is an address of the plan page, so that every figure can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True)
class Preset:
    title: str
    story: str
    """What somebody with this need would say."""
    values: Mapping[str, str]

    @property
    def address(self) -> str:
        return urlencode({"name": self.title, **self.values})


PRESETS = (
    Preset(
        "Fine-tune a 7B model",
        "We adapt a 7-billion-parameter language model to our documents, four times a year.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "7",
            "workload.tokens~bn": "2",
            "workload.optimizer": "lora",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.experiments_factor": "3",
            "horizon_months": "12",
        },
    ),
    Preset(
        "Pre-train a 7B model twice",
        "We train a 7-billion-parameter model from scratch, twice, within two years.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "7",
            "workload.tokens~bn": "1000",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "workload.experiments_factor": "1.5",
            "horizon_months": "24",
        },
    ),
    Preset(
        "Vision model",
        "We train an image classifier on ImageNet-sized data and try many variants.",
        {
            "workload.kind": "samples",
            "workload.samples~mn": "1.28",
            "workload.epochs": "90",
            "workload.benchmark": "resnet-50-v1.5-imagenet-ngc",
            "workload.experiments_factor": "20",
            "horizon_months": "24",
        },
    ),
    Preset(
        "70B language model",
        "We continue training a 70-billion-parameter model on our own text.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "70",
            "workload.tokens~bn": "100",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "horizon_months": "36",
        },
    ),
    Preset(
        "Steady GPU-hours",
        "Our group uses eight H100 around the clock for three years.",
        {
            "workload.kind": "accelerator_hours",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "workload.hours_per_month": "5840",
            "horizon_months": "36",
        },
    ),
)

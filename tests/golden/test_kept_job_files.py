"""What is read from job files keeps its words and figures: `kept_job_files.json` holds, for each
file, its facts, notes and questions, or why it is refused."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from planner.usage.job_files import read_job_file
from pricing.common.invalid_input import InvalidInput
from tests.golden.kept import assert_kept
from tests.planner.usage.test_job_files import (
    ARRAYS,
    CONFIGURATIONS,
    JOBS,
    SHARES,
    SLICES,
    SLURM,
    WORKLOADS,
    labelled,
    manifests,
    slurm,
)

SCRIPTS = {
    "launcher": "torchrun --nproc_per_node=8 train.py\n",
    "variable": "export GPUS_PER_NODE=4\nsrun train\n",
    "neither": "srun train\n",
}
TEXTS = {
    "steps": "max_seq_length: 512\nglobal_batch_size: 16\nmax_steps: 2000\n"
    "model_name_or_path: x/llama3\n",
    "epochs": "base_model: x/Llama-3.1-8B\nsequence_len: 64\nnum_epochs: 3\n",
    "devices of one node": "trainer:\n  devices: 8\nmodel:\n  name: gpt\n  num_layers: 12\n",
    "processes": "num_processes: 16\nnum_machines: 2\nmixed_precision: bf16\n"
    "per_device_batch_size: 1\nseq_length: 256\n",
    "service": "resources:\n  accelerators: H100:8\n  use_spot: true\n  cloud: aws\n"
    "  region: us-east-1\nnum_nodes: 2\nservice:\n  replicas: 3\nrun: x\n",
}


def _files() -> dict[str, Any]:
    wide = "--nodes=2 --time=60 --job-name=fit"
    kinds = {"A100": labelled("nvidia-tesla-a100"), "H100": labelled("nvidia-h100-80gb")}
    return {
        **{f"script {one}": lambda one=one: slurm(one, "--time=60") for one in [*SLURM, *SLICES]},
        **{f"array {one}": lambda one=one: slurm("--gpus=h100:4", f"-a {one}") for one in ARRAYS},
        **{f"body {k}": lambda v=v: slurm(wide, body=v) for k, v in SCRIPTS.items()},
        "exclusive": lambda: slurm(wide, "--exclusive", "--partition=h100"),
        "constraint": lambda: slurm("--gpus=4", "--constraint=a100"),
        **{f"pod {k}": lambda v=v: manifests("Pod", v) for k, v in (SHARES | kinds).items()},
        **{f"job {k}": lambda v=v[0]: manifests("Job", v) for k, v in JOBS.items()},
        **{k: lambda v=v: manifests(*v[:2]) for k, v in WORKLOADS.items()},
        **{f"training {i}": lambda v=v: read_job_file(*v)
           for i, v in enumerate(CONFIGURATIONS)},
        **{k: lambda v=v: read_job_file(v) for k, v in TEXTS.items()},
    }  # fmt: skip


def _without_a_line() -> Iterator[tuple[str, Any]]:
    """Each configuration without one of its lines in turn, which may make it none."""
    for text, name in [*((text, "") for text in TEXTS.values()), *CONFIGURATIONS]:
        lines = text.splitlines(keepends=True)
        for i, line in enumerate(lines):
            rest = "".join(lines[:i] + lines[i + 1 :])
            yield f"{lines[0]}without {line}", partial(read_job_file, rest, name)


FILES = _files() | dict(_without_a_line())


@pytest.mark.parametrize("name", FILES)
def test_job_files_keep_what_is_read_from_them(name: str) -> None:
    try:
        facts = FILES[name]()
        told = asdict(facts) | {"request": facts.request(2.0)}
    except InvalidInput as refusal:
        told = {"refused": str(refusal)}
    assert_kept("kept_job_files.json", name, told)

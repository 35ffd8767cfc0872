"""A job file, whatever it is, as facts. PURE."""

from __future__ import annotations

import tomllib

from planner.usage.job_files import (
    batch_scripts,
    clusters,
    kubernetes,
    managed,
    slurm_script,
    terraform,
    training_config,
)
from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.yaml_text import read_documents
from pricing.common.bounded import check_lines
from pricing.common.invalid_input import InvalidInput

MAX_CHARACTERS = 1_000_000
FORMS = (
    "scripts of Slurm, PBS, LSF, Grid Engine and Flux, Kubernetes manifests, Terraform, SkyPilot "
    "and dstack tasks, jobs of SageMaker, Vertex AI, Azure ML, AWS Batch, Databricks, Determined "
    "and MosaicML, Docker Compose, configurations of "
    "axolotl, LLaMA-Factory, TRL, accelerate, torchtitan, NeMo, MaxText and GPT-NeoX, and commands "
    "of verl"
)


def read_job_file(text: str, name: str = "") -> JobFacts:
    """What the file says; refused where it is none of the forms."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput("file", f"is larger than {MAX_CHARACTERS:,} characters")
    if "\0" in text:
        raise InvalidInput("file", "holds a NUL; it is not text")
    for _ in check_lines(text.splitlines(), "file"):
        pass
    if slurm_script.matches(text):
        return slurm_script.read(text)
    if batch_scripts.matches(text):
        return batch_scripts.read(text)
    if training_config.is_command(text) and not _looks_like_yaml(text):
        return training_config.read_command(text)
    if terraform.matches(text, name):
        return terraform.read(text)
    if name.endswith(".toml"):
        return _read_toml(text, name)
    return _read_yaml(text, name)


def _looks_like_yaml(text: str) -> bool:
    return "\nresources:" in f"\n{text}" or text.startswith(("apiVersion", "type:"))


def _read_toml(text: str, name: str) -> JobFacts:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise InvalidInput("file", f"is not TOML: {str(error)[:120]}") from None
    if training_config.matches(document):
        return training_config.read(document, name)
    raise InvalidInput("file", f"is none of the forms that are read: {FORMS}")


def _read_yaml(text: str, name: str) -> JobFacts:
    documents = read_documents(text)
    if kubernetes.matches(documents):
        return kubernetes.read(documents)
    for document in documents[:1]:
        if clusters.is_dstack(document):
            return clusters.read_dstack(document)
        if clusters.is_skypilot(document):
            return clusters.read_skypilot(document)
        if (facts := managed.read(document)) is not None:
            return facts
        if training_config.matches(document):
            return training_config.read(document, name)
    raise InvalidInput("file", f"is none of the forms that are read: {FORMS}")

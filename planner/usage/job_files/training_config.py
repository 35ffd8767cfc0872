"""Configurations of training: axolotl, LLaMA-Factory, TRL, accelerate, torchtitan, NeMo, MaxText,
GPT-NeoX and command lines of verl. PURE."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.yaml_text import count_of, inner, word_of

_MODEL = ("base_model", "model_name_or_path", "model_name", "model")
_SEQUENCE = (
    *("sequence_len", "cutoff_len", "max_seq_length", "max_length", "seq_length"),
    *("max_target_length", "encoder_seq_length", "seq_len"),
)
_ADAPTERS = {"lora": "lora", "qlora": "qlora", "dora": "lora"}
_VERL = re.compile(r"(?:^|\s)([\w.]+)=('[^']*'|\"[^\"]*\"|\S+)")
_GPUS_IN_NAME = re.compile(r"(\d{1,6})\s?gpus?\b", re.IGNORECASE)
_NEMO_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,3}):(\d{2}):(\d{2})")


def matches(document: dict[str, Any]) -> bool:
    keys = document.keys()
    return bool(
        ("base_model" in keys and {"micro_batch_size", "sequence_len", "adapter"} & keys)
        or ("model_name_or_path" in keys)
        or ("num_processes" in keys and "mixed_precision" in keys)
        or ("train_micro_batch_size_per_gpu" in keys)
        or ({"per_device_batch_size", "max_target_length"} <= keys)
        or ("devices" in inner(document, "trainer") and "model" in keys)
        or ("training" in keys and "parallelism" in keys)
    )


def is_command(text: str) -> bool:
    return "verl.trainer" in text and "trainer.n_gpus_per_node" in text


def read(document: dict[str, Any], name: str = "") -> JobFacts:
    """What a configuration states; tokens follow from steps where batch and accelerators do."""
    facts = JobFacts("Training configuration")
    trainer, model = inner(document, "trainer"), inner(document, "model")
    training = inner(document, "training")
    values = {**model, **training, **document}
    _read_accelerators(document, trainer, facts)
    _read_model(values, facts)
    _read_batch(values, trainer, training, facts)
    match = _NEMO_TIME.fullmatch(word_of(inner(document, "run").get("time_limit")))
    if match:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        facts.hours = days * 24 + hours + minutes / 60 + seconds / 3600
    _read_name(name, facts)
    facts.training.setdefault("kind", "training")
    return facts.settle()


def _read_accelerators(document: dict[str, Any], trainer: dict[str, Any], facts: JobFacts) -> None:
    if "num_processes" in document:
        facts.accelerators = count_of(document["num_processes"])
        facts.nodes = count_of(document.get("num_machines", 1))
    elif "devices" in trainer:
        facts.per_node = count_of(trainer["devices"])
        facts.nodes = count_of(trainer.get("num_nodes"))
        if facts.nodes is None:
            facts.note("`devices` counts those of one node; the number of nodes is not stated.")
    sizes = [
        count_of(value)
        for key, value in document.items()
        if re.fullmatch(r"(dcn|ici)_\w+_parallelism", key) or key in ("dcn_data_parallelism",)
    ]
    if sizes and None not in sizes:
        facts.accelerators = prod(size for size in sizes if size is not None)


def _read_model(values: dict[str, Any], facts: JobFacts) -> None:
    model = next((word_of(values[key]) for key in _MODEL if word_of(values.get(key))), "")
    if not model and word_of(values.get("name")):
        model = f"{word_of(values['name'])} {word_of(values.get('flavor'))}".strip()
    if model:
        facts.training["model"] = model.rpartition("/")[2][:100]
    for field, key in (("layers", "num_layers"), ("hidden_size", "hidden_size")):
        count = count_of(values.get(key))
        if count:
            facts.training[field] = int(count)
    sequence = next((count_of(values[key]) for key in _SEQUENCE if count_of(values.get(key))), None)
    if sequence:
        facts.training["sequence_length"] = int(sequence)
    adapter = word_of(values.get("adapter")) or word_of(values.get("finetuning_type"))
    if adapter in _ADAPTERS:
        quantised = values.get("load_in_4bit") is True or count_of(values.get("quantization_bit"))
        facts.training["optimizer"] = "qlora" if quantised else _ADAPTERS[adapter]
    epochs = values.get("num_epochs", values.get("num_train_epochs"))
    if epochs is not None:
        facts.note(f"{epochs} epochs; tokens are those of the data set times the epochs.")


def _read_batch(
    values: dict[str, Any], trainer: dict[str, Any], training: dict[str, Any], facts: JobFacts
) -> None:
    sequence = facts.training.get("sequence_length")
    whole = count_of(values.get("global_batch_size"))
    each = count_of(values.get("per_device_batch_size"))
    if whole is None and each is not None and facts.accelerators is not None:
        whole = each * facts.accelerators
    if whole and sequence:
        facts.tokens_per_step = whole * sequence
        facts.training["global_batch_tokens"] = int(facts.tokens_per_step)
    steps = count_of(values.get("max_steps") or trainer.get("max_steps") or training.get("steps"))
    if steps and facts.tokens_per_step:
        facts.training["tokens"] = steps * facts.tokens_per_step
        facts.note(f"{steps:,.0f} steps of {facts.tokens_per_step:,.0f} tokens.")


def _read_name(name: str, facts: JobFacts) -> None:
    """A count in the file's name may be the only statement."""
    match = _GPUS_IN_NAME.search(name)
    if match and facts.accelerators is None:
        facts.accelerators = float(match[1])
        facts.note(f"{match[1]} accelerators are read from the file's name: check them.")


def read_command(text: str) -> JobFacts:
    """A command line of verl: reinforcement learning, whose hours a request cannot size."""
    facts = JobFacts("verl command")
    values = {match[1]: match[2].strip("'\"") for match in _VERL.finditer(text)}
    facts.name = values.get("trainer.experiment_name", "")
    facts.per_node = count_of(values.get("trainer.n_gpus_per_node"))
    facts.nodes = count_of(values.get("trainer.nnodes", "1"))
    model = values.get("actor_rollout_ref.model.path", "")
    facts.note(
        f"Reinforcement learning of {model or 'a model'}: rollouts "
        f"{values.get('actor_rollout_ref.rollout.n', 'not stated')}, batch "
        f"{values.get('data.train_batch_size', 'not stated')}, tensor parallel "
        f"{values.get('actor_rollout_ref.rollout.tensor_model_parallel_size', 'not stated')}; its "
        "hours are not sized here, so they are asked for."
    )
    return facts.settle()

"""Files of YAML, JSON and TOML that describe work: tasks of SkyPilot, configurations of training
(axolotl, LLaMA-Factory, TRL, accelerate, torchtitan, NeMo, MaxText, GPT-NeoX). PURE."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import yaml

from planner.usage.job_files.facts import JobFacts, split_count
from planner.usage.machines import find_machine
from pricing.common.invalid_input import InvalidInput

MAX_ALIASES = 200
MAX_DEPTH = 60
MAX_EVENTS = 100_000
"""Most beginnings, ends and values: a job file has some hundreds, and Python reads as many as these
in 2 s."""
MAX_MERGED = 20_000
"""Most entries that objects take over from others with `<<`. Each may double those of the one
before it, so thirty lines would fill the memory."""
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The reader in C, ten times as fast, where PyYAML comes with it."""


class _Loader(_FASTEST):  # type: ignore[misc]
    merged = 0

    def flatten_mapping(self, node: Any) -> None:
        before = len(node.value)
        super().flatten_mapping(node)
        self.merged += max(0, len(node.value) - before)
        if self.merged > MAX_MERGED:
            raise InvalidInput("file", f"is YAML that merges more than {MAX_MERGED:,} entries")


def read_documents(text: str) -> list[dict[str, Any]]:
    """The documents that are objects; refused where the text is no YAML or a bomb of aliases."""
    try:
        aliases = depth = 0
        for count, event in enumerate(yaml.parse(text, _FASTEST), 1):
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if aliases > MAX_ALIASES or depth > MAX_DEPTH:
                raise InvalidInput("file", "is YAML of too many aliases or levels")
            if count > MAX_EVENTS:
                raise InvalidInput("file", f"is YAML of more than {MAX_EVENTS:,} parts")
        documents = list(yaml.load_all(text, _Loader))
    except InvalidInput:
        raise
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        first = str(error).splitlines()[0] if str(error) else "damaged"
        raise InvalidInput("file", f"is not YAML: {first[:120]}") from None
    return [document for document in documents if isinstance(document, dict)]


def inner(value: Any, *names: str) -> dict[str, Any]:
    entry = within(value, *names)
    return entry if isinstance(entry, dict) else {}


def items(value: Any, *names: str) -> list[dict[str, Any]]:
    items = within(value, *names)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def within(value: Any, *names: str) -> Any:
    """What stands under names within one another; of a list on the way the first."""
    for name in names:
        value = value[0] if isinstance(value, list) and value else value
        value = value.get(name) if isinstance(value, dict) else None
    return value


def count_of(value: Any) -> float | None:
    """A count that is a number or writes one; None for a template such as `$NODES`.

    >>> count_of("8"), count_of(2), count_of("$GPUS"), count_of(True), count_of(0.5)
    (8.0, 2.0, None, None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < 1e7 and value == int(value) else None
    text = str(value).strip()
    return float(text) if text.isdecimal() and len(text) < 8 else None


def word_of(value: Any) -> str:
    return value.strip()[:200] if isinstance(value, str) else ""


# SkyPilot ---------------------------------------------------------------------------------


def is_skypilot(document: dict[str, Any]) -> bool:
    return "run" in document and isinstance(document.get("resources"), dict)


def read_skypilot(document: dict[str, Any]) -> JobFacts:
    """Nodes × accelerators of a task; how long it runs is never stated."""
    facts = JobFacts("SkyPilot task", name=word_of(document.get("name")))
    resources = inner(document, "resources")
    facts.nodes = count_of(document.get("num_nodes", 1))
    _read_service(inner(document, "service"), facts)
    value = resources.get("accelerators")
    if isinstance(value, dict) and len(value) == 1:
        [(name, count)] = value.items()
        facts.accelerator, facts.per_node = str(name), count_of(count)
    elif isinstance(value, dict | list) and value:
        names = ", ".join(str(name)[:30] for name in list(value)[:6])
        facts.ask("accelerator", f"several may be chosen: {names}")
        facts.ask_count("it depends on the accelerator that is chosen")
    elif text := word_of(value):
        facts.accelerator, count = split_count(text)
        facts.per_node = 1.0 if count is None and ":" not in text else count
    place = word_of(resources.get("cloud")) or word_of(resources.get("infra")).partition("/")[0]
    facts.provider = place.lower() if place.lower() in ("aws", "gcp", "azure") else ""
    facts.region = word_of(resources.get("region"))
    facts.machine = word_of(resources.get("instance_type"))
    if facts.machine and facts.per_node is None:
        known = find_machine(facts.provider or "aws", facts.machine)
        facts.per_node = known.accelerators or None
        facts.name_kind(known.accelerator)
    spot = resources.get("use_spot")
    facts.spot = spot if isinstance(spot, bool) else None
    return facts.settle()


def _read_service(service: dict[str, Any], facts: JobFacts) -> None:
    policy = inner(service, "replica_policy")
    low, high = policy.get("min_replicas"), policy.get("max_replicas")
    number = service.get("replicas", low)
    if number is None:
        return
    replicas = count_of(number)
    if high is not None and high != low:
        facts.ask_count(f"it scales from {low} to {high} replicas: a limit is no use")
    elif replicas is None:
        facts.ask_count(f"the number of replicas is {str(number)[:40]!r}")
    elif facts.nodes is not None:
        facts.nodes *= replicas


# Training ---------------------------------------------------------------------------------

_MODEL = ("base_model", "model_name_or_path", "model_name", "model")
_SEQUENCE = (
    *("sequence_len", "cutoff_len", "max_seq_length", "max_length", "seq_length"),
    *("max_target_length", "encoder_seq_length", "seq_len"),
)
_ADAPTERS = {"lora": "lora", "qlora": "qlora", "dora": "lora"}


def is_training(document: dict[str, Any]) -> bool:
    keys = document.keys()
    return bool(
        ("base_model" in keys and {"micro_batch_size", "sequence_len", "adapter"} & keys)
        or ("model_name_or_path" in keys)
        or ({"num_processes", "mixed_precision"} <= keys)
        or ("train_micro_batch_size_per_gpu" in keys)
        or ({"per_device_batch_size", "max_target_length"} <= keys)
        or ("devices" in inner(document, "trainer") and "model" in keys)
        or ({"training", "parallelism"} <= keys)
    )


def read_training(document: dict[str, Any]) -> JobFacts:
    """What a configuration states; tokens follow from steps where batch and accelerators do."""
    # Axolotl, Accelerate, DeepSpeed, MaxText, NeMo, torchtitan: released trainers as they come.
    facts = JobFacts("Training configuration", training={"kind": "training", "code": "standard"})
    trainer, training = inner(document, "trainer"), inner(document, "training")
    values = {**inner(document, "model"), **trainer, **training, **document}
    _read_processes(document, trainer, facts)
    _read_model(values, facts)
    sequence = next(filter(None, (count_of(values.get(key)) for key in _SEQUENCE)), None)
    if sequence:
        facts.training["sequence_length"] = int(sequence)
    whole, each = (count_of(values.get(f"{of}_batch_size")) for of in ("global", "per_device"))
    if whole is None and each is not None and facts.accelerators is not None:
        whole = each * facts.accelerators
    if whole and sequence:
        facts.tokens_per_step = whole * sequence
        facts.training["global_batch_tokens"] = int(facts.tokens_per_step)
    steps = count_of(values.get("max_steps") or training.get("steps"))
    if steps and facts.tokens_per_step:
        facts.training["tokens"] = steps * facts.tokens_per_step
        facts.note(f"{steps:,.0f} steps of {facts.tokens_per_step:,.0f} tokens.")
    return facts.settle()


def _read_processes(document: dict[str, Any], trainer: dict[str, Any], facts: JobFacts) -> None:
    if "num_processes" in document:
        facts.accelerators = count_of(document["num_processes"])
        facts.nodes = count_of(document.get("num_machines", 1))
    elif "devices" in trainer:
        facts.per_node = count_of(trainer["devices"])
        facts.nodes = count_of(trainer.get("num_nodes"))
        if facts.nodes is None:
            facts.note("`devices` counts those of one node; the number of nodes is not stated.")
    keys = (key for key in document if re.fullmatch(r"(dcn|ici)_\w+_parallelism", key))
    sizes = [count_of(document[key]) for key in keys]
    if sizes and None not in sizes:
        facts.accelerators = prod(size for size in sizes if size is not None)


def _read_model(values: dict[str, Any], facts: JobFacts) -> None:
    model = next((word_of(values[key]) for key in _MODEL if word_of(values.get(key))), "")
    if not model and word_of(values.get("name")):
        model = f"{word_of(values['name'])} {word_of(values.get('flavor'))}".strip()
    if model:
        facts.training["model"] = model.rpartition("/")[2][:100]
    for field, key in (("layers", "num_layers"), ("hidden_size", "hidden_size")):
        if count := count_of(values.get(key)):
            facts.training[field] = int(count)
    adapter = word_of(values.get("adapter")) or word_of(values.get("finetuning_type"))
    if adapter in _ADAPTERS:
        quantised = values.get("load_in_4bit") is True or count_of(values.get("quantization_bit"))
        facts.training["optimizer"] = "qlora" if quantised else _ADAPTERS[adapter]
    epochs = values.get("num_epochs", values.get("num_train_epochs"))
    if epochs is not None:
        facts.note(f"{epochs} epochs; tokens are those of the data set times the epochs.")

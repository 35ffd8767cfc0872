"""Files of YAML, JSON and TOML that describe work: tasks of SkyPilot, plans of Terraform, and
configurations of training (axolotl, LLaMA-Factory, TRL, accelerate, torchtitan, NeMo, MaxText,
GPT-NeoX). PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any

import yaml

from planner.usage.job_files.facts import JobFacts, split_count
from planner.usage.machines import find_machine, name_accelerator
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
    """An object within objects; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any, *names: str) -> list[dict[str, Any]]:
    """Objects of a list within objects."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


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
    """A text; empty for anything else."""
    return value.strip()[:200] if isinstance(value, str) else ""


# SkyPilot ---------------------------------------------------------------------------------

_CLOUDS = ("aws", "gcp", "azure")


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
    facts.provider = place.lower() if place.lower() in _CLOUDS else ""
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
    """Replicas of a service: as many as it always has; those that scale are asked for."""
    policy = inner(service, "replica_policy")
    low, high = policy.get("min_replicas"), policy.get("max_replicas")
    number = service.get("replicas", low)
    if not service or number is None:
        return
    replicas = count_of(number)
    if high is not None and high != low:
        facts.ask_count(f"it scales from {low} to {high} replicas: a limit is no use")
    elif replicas is None:
        facts.ask_count(f"the number of replicas is {str(number)[:40]!r}")
    elif facts.nodes is not None:
        facts.nodes *= replicas
        return
    facts.nodes = None


# Terraform --------------------------------------------------------------------------------

_MACHINE_KEYS = ("instance_type", "instance_types", "machine_type", "vm_size", "size", "sku")
_COUNT_KEYS = (
    *("instance_count", "desired_size", "desired_capacity", "node_count", "target_size"),
    *("instances", "initial_node_count"),
)
_SCALING_KEYS = ("max_size", "max_count", "max_node_count")
_SINGLE_MACHINES = re.compile(r"aws_(spot_)?instance\w*|google_compute_instance|azurerm_\w+machine")


def is_terraform(document: dict[str, Any]) -> bool:
    """Whether it is what `terraform show -json` prints of a plan or a state."""
    return "terraform_version" in document and bool({"planned_values", "values"} & document.keys())


def read_terraform(document: dict[str, Any]) -> JobFacts:
    """Machines with accelerators that the plan sets up."""
    facts = JobFacts("Terraform plan")
    values = inner(document, "planned_values") or inner(document, "values")
    total: float | None = 0.0
    for resource in _resources(inner(values, "root_module")):
        for group in _groups(inner(resource, "values")):
            each = _machine(group, facts)
            if each == 0:
                continue
            count = _count(word_of(resource.get("type")), group, facts)
            if count is None or each is None or total is None:
                total = None
            else:
                total += count * each
                facts.per_node, facts.nodes = each, (facts.nodes or 0) + count
    facts.accelerators = total or None
    if not facts.machine:
        facts.note("No machine with accelerators is set in this file.")
    return facts.settle()


def _resources(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from items(module, "resources")
    for child in items(module, "child_modules"):
        yield from _resources(child)


def _groups(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    flat: dict[str, Any] = {}
    several: list[dict[str, Any]] = []
    for key, value in values.items():
        objects = [value] if isinstance(value, dict) else items(value)
        if len(objects) == 1:
            flat = next(_groups(objects[0])) | flat
        elif objects:
            several += objects
        else:
            flat[key] = value[0] if isinstance(value, list) and value else value
    if not several:
        yield flat
    for group in several:
        yield flat | next(_groups(group))


def _machine(group: dict[str, Any], facts: JobFacts) -> float | None:
    name = next((word_of(group[key]) for key in _MACHINE_KEYS if word_of(group.get(key))), "")
    for provider in _CLOUDS if name else ():
        known = find_machine(provider, name)
        attached = count_of(group.get("count")) if provider == "gcp" else None
        if known.accelerators == 0 and not (attached and word_of(group.get("type"))):
            continue
        facts.machine, facts.provider = name, provider
        facts.name_kind(known.accelerator or name_accelerator(word_of(group.get("type"))))
        return known.accelerators or attached
    return 0.0


def _count(kind: str, group: dict[str, Any], facts: JobFacts) -> float | None:
    counts = (count_of(group.get(name)) for name in _COUNT_KEYS)
    count = next((count for count in counts if count is not None), None)
    if count is not None:
        return count
    if _SINGLE_MACHINES.fullmatch(kind):
        return 1.0
    maximum = next((group[name] for name in _SCALING_KEYS if group.get(name)), None)
    if maximum is not None:
        facts.note(f"At most {str(maximum)[:20]} × {facts.machine}: a limit of scaling is no use.")
    facts.ask_count(f"how many {facts.machine} run is not stated")
    return None


# Training ---------------------------------------------------------------------------------

_MODEL = ("base_model", "model_name_or_path", "model_name", "model")
_SEQUENCE = (
    *("sequence_len", "cutoff_len", "max_seq_length", "max_length", "seq_length"),
    *("max_target_length", "encoder_seq_length", "seq_len"),
)
_ADAPTERS = {"lora": "lora", "qlora": "qlora", "dora": "lora"}
_GPUS_IN_NAME = re.compile(r"(\d{1,6})\s?gpus?\b", re.IGNORECASE)
_NEMO_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,3}):(\d{2}):(\d{2})")


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


def read_training(document: dict[str, Any], name: str = "") -> JobFacts:
    """What a configuration states; tokens follow from steps where batch and accelerators do."""
    facts = JobFacts("Training configuration")
    trainer, training = inner(document, "trainer"), inner(document, "training")
    values = {**inner(document, "model"), **training, **document}
    _read_processes(document, trainer, facts)
    _read_model(values, facts)
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
    match = _NEMO_TIME.fullmatch(word_of(inner(document, "run").get("time_limit")))
    if match:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        facts.hours = days * 24 + hours + minutes / 60 + seconds / 3600
    in_name = _GPUS_IN_NAME.search(name)
    if in_name and facts.accelerators is None:
        facts.accelerators = float(in_name[1])
        facts.note(f"{in_name[1]} accelerators are read from the file's name: check them.")
    facts.training.setdefault("kind", "training")
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
    sizes = [
        count_of(value)
        for key, value in document.items()
        if re.fullmatch(r"(dcn|ici)_\w+_parallelism", key)
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
        if count := count_of(values.get(key)):
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

"""What somebody meant by a field that a request does not have. PURE.

Looked at are, in this order: words of the field for what a request calls otherwise, fields of that
name elsewhere in the request or in another kind of work, and names that differ by some letters.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel

from pricing.common.bounded import SHOWN_LENGTH

_ALL_EPOCHS = "tokens, those of all epochs together"
_ADAPTERS = 'optimizer, "lora" or "qlora" for adapters'
_DEADLINE = "runs, each with a start and a deadline"
_BUDGET = "constraints.total_budget or constraints.capex_budget"
_COUNT = "accelerators_per_job, the accelerators of one job"
_RANK = "trainable_parameters, about 18 x rank x layers x hidden_size on all linear layers"
_SPLIT = 'layout, such as {"tensor": 8, "pipeline": 2}'
_STEPS = "tokens, steps times the tokens of one"
_WORDS: Mapping[str, tuple[str, ...]] = {
    "adapter_parameters": ("trainable_parameters",),
    "batch_size": ("global_batch_tokens or micro_batch_size",),
    "budget": (_BUDGET,),
    "capex": (_BUDGET,),
    "context_length": ("sequence_length",),
    "context_window": ("sequence_length",),
    "max_seq_length": ("sequence_length",),
    "count": ("peak_accelerators",),
    "country": ("constraints.countries",),
    "d_model": ("hidden_size",),
    "dataset": ("tokens", "samples"),
    "dataset_size": ("tokens", "samples"),
    "deadline": (_DEADLINE, "horizon_months, or a deadline in workload.runs"),
    "discount_rate": ("discount_rate_per_year", "finance.discount_rate_per_year"),
    "dtype": ("precision",),
    "duration": ("horizon_months",),
    "epochs": (_ALL_EPOCHS,),
    "examples": (f"tokens_per_example and {_ALL_EPOCHS}", "samples"),
    "framework": ("code", "software"),
    "geography": ("constraints.geographies",),
    "gradient_accumulation_steps": ("global_batch_tokens, all micro-batches together",),
    "gpu": ("accelerator", "workload.accelerator"),
    "gpu_count": ("peak_accelerators", _COUNT),
    "gpu_hours": ("hours_per_month", "measured_accelerator_hours"),
    "gpu_type": ("accelerator", "workload.accelerator"),
    "gpus": ("peak_accelerators", _COUNT),
    "hours": ("hours_per_month", "measured_accelerator_hours"),
    "images": ("samples",),
    "load_in_4bit": (_ADAPTERS,),
    "lora": (_ADAPTERS,),
    "lora_rank": (_RANK,),
    "max_steps": (_STEPS,),
    "max_spot": ("max_spot_share", "constraints.max_spot_share"),
    "method": (_ADAPTERS,),
    "model": ("benchmark",),
    "model_size": ("parameters",),
    "n_gpus": ("peak_accelerators", _COUNT),
    "num_gpus": ("peak_accelerators", _COUNT),
    "num_tokens": ("tokens",),
    "peak": ("peak_accelerators",),
    "peft": (_ADAPTERS,),
    "per_device_train_batch_size": ("micro_batch_size",),
    "pipeline_parallel": (_SPLIT,),
    "provider": ("constraints.providers",),
    "qlora": (_ADAPTERS,),
    "quantization": (_ADAPTERS,),
    "rank": (_RANK,),
    "region": ("constraints.regions",),
    "spot": ("interruptible", "workload.interruptible"),
    "steps": (_STEPS,),
    "tensor_parallel": (_SPLIT,),
    "tensor_parallel_size": (_SPLIT,),
    "training_tokens": ("tokens",),
    "use_lora": (_ADAPTERS,),
}
"""Word → what a request calls it, the first that its place has, or a path from the request."""


def describe_unknown(
    root: type[BaseModel], owner: type[BaseModel] | None, loc: Sequence[int | str]
) -> str:
    """That the field at `loc` of `root` is not known, with what was meant or what is allowed; in
    `owner`, the model that it stands in."""
    name = str(loc[-1])[:SHOWN_LENGTH]
    fields = owner.model_fields if owner else {}
    allowed = sorted(field.alias or key for key, field in fields.items())
    meant = _meant(name, allowed, root) or " or ".join(sorted(set(_paths_named(root, name, loc))))
    hint = f"; did you mean {meant}?" if meant else _of_kind(root, name, loc)
    listed = f"; allowed are {', '.join(allowed)}" if allowed else ""
    return f"is not a known field{hint or closest(name, allowed) or listed}"


def closest(value: str, allowed: Sequence[str]) -> str:
    """`; did you mean …?` when something allowed is close, else nothing.

    >>> closest("tokns", ("tokens", "layers"))
    '; did you mean tokens?'
    """
    near = difflib.get_close_matches(value, allowed, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _meant(name: str, allowed: Sequence[str], root: type[BaseModel]) -> str:
    """What a word stands for here; "" where it is no such word."""
    meanings = (words for words in _WORDS.get(name.lower(), ()) if _is_here(words, allowed, root))
    return next(meanings, "")


def _is_here(words: str, allowed: Sequence[str], root: type[BaseModel]) -> bool:
    """Whether the field that `words` begin with is allowed, or its path is one of the request."""
    path = words.partition(" ")[0].rstrip(",")
    first, _, inner = path.partition(".")
    return first in root.model_fields if inner else path in allowed


def _paths_named(root: type[BaseModel], name: str, loc: Sequence[int | str]) -> Iterator[str]:
    """Where else than at `loc` a request has a field of this name: at its top, or one step below
    it."""
    if name in root.model_fields:
        yield f"{name}, at the top of the request"
    for key, field in root.model_fields.items():
        if key == loc[0] or _is_list(field.annotation):
            continue
        for model in models_in(field.annotation):
            if name in model.model_fields:
                yield f"{key}.{name}"


def _of_kind(root: type[BaseModel], name: str, loc: Sequence[int | str]) -> str:
    """`; it belongs to kind …` where another member of the same union has the field."""
    field = root.model_fields.get(str(loc[0])) if len(loc) > 1 else None
    members = [] if field is None else list(models_in(field.annotation))
    kinds = [str(tag) for m in members if name in m.model_fields for tag in tags(m)]
    return f"; it belongs to kind {' or '.join(kinds)}" if kinds else ""


def tags(model: type[BaseModel]) -> tuple[object, ...]:
    """The kinds by which a member of a union is told from the others."""
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def _is_list(annotation: object) -> bool:
    return any(get_origin(one) in (tuple, dict) for one in (annotation, *get_args(annotation)))


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that a field may hold."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    for argument in get_args(annotation):
        yield from models_in(argument)

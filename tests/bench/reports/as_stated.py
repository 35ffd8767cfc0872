"""Published trainings as their sources state them: what a user who knows them would type.

The rule, the same for every run and without a look at its error:

- **code** is `hand_tuned` where the source says that training libraries, kernels or communication
  were written for it (LLaMA's custom training libraries, llm.c, DeepSeek-V3, TinyLlama's fused
  kernels), `first_version` where it is code from before fused attention, else `standard`: a
  released framework (Megatron-LM, DeepSpeed, FSDP, Hugging Face Trainer, OLMo-core, Lingvo), or
  nothing said.
- **the step** is what the run's configuration says: micro-batch, global batch, ZeRO stage,
  checkpointing, tokens of an example where several share a sequence or fill less than one.
- **tokens** count as stated where they are the source's own, or its steps times its batch.

The evidence tables hold most of it; here is what they do not, as the fit of rules 3 rests on them
as they are.
"""

from __future__ import annotations

from dataclasses import replace

from planner.sizing.evidence.finetune_runs import FinetuneRun, finetune_runs
from planner.sizing.performance.teams import TeamRun, finetuning_team_run

CODES = {
    # "custom training libraries": meta-llama/llama-models models/llama4/MODEL_CARD.md, 2025
    "llama4-scout": "hand_tuned",
    # Lingvo and GSPMD as released: arXiv 2201.08239 section 3, 2022
    "lamda-137B": "standard",
    # OLMo-core, a released framework
    "olmo3-7B": "standard",
    # "standard huggingface training code": tatsu-lab/stanford_alpaca README @000109ff, 2023
    "alpaca-7b": "standard",
    # transformers.Trainer: tloen/alpaca-lora finetune.py @0003a002, 2023
    "alpaca-lora-7b": "standard",
}
STEPS: dict[str, dict[str, object]] = {
    # recipes/zephyr-7b-beta/sft/config_full.yaml @19f03455: 16 packed sequences on each of 8
    "zephyr-7b-sft": {
        "micro_batch_size": 16,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "global_batch_tokens": 128 * 2048,
    },
    # scripts/v1_5/finetune.sh @5a5bda8f; 876 tokens an example by the table
    "llava-1.5-13b": {
        "micro_batch_size": 16,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "sequence_length": 876,
        "global_batch_tokens": 128 * 876,
    },
    # docs/algorithms/sft_running_guide.md @35450ba2: rows of 840 tokens, packed into 32,768
    "olmo3-7b-instruct-sft": {"tokens_per_example": 840, "global_batch_tokens": 1_048_576},
    # "DeepSpeed ZeRO-3", its model card
    "phind-34b-v2": {"zero_stage": 3},
    # llm-foundry with FSDP, its model card
    "mpt-30b-chat": {"zero_stage": 3},
    # README @000109ff: 128 examples a step of at most 512; about 192 by the table
    "alpaca-7b": {"sequence_length": 192, "global_batch_tokens": 128 * 192},
    # finetune.py @0003a002: 4 at once, 128 a step; about 100 tokens by the table
    "alpaca-lora-7b": {
        "micro_batch_size": 4,
        "sequence_length": 100,
        "global_batch_tokens": 128 * 100,
    },
}
BOUNDED = ("guanaco-65b",)
"""Runs whose tokens are steps times batch times the longest example, grouped by length."""


def as_stated(run: TeamRun) -> TeamRun:
    """A run of the fit with what its source says of code and step."""
    coded = replace(run, code=CODES.get(run.run, run.code))
    step = STEPS.get(run.run)
    if step is None:
        return coded
    row = next(row for row in finetune_runs() if row.run == run.run)
    typed = replace(row, code=coded.code, training=row.training.model_copy(update=step))
    found = finetuning_team_run(typed)
    assert found is not None, f"{run.run}: no layout holds what its source states"
    return found


def states_tokens(run: TeamRun) -> bool:
    """Whether the source of a run states its tokens; all pre-trainings do."""
    return run.run not in _guessed()


def _guessed() -> set[str]:
    return {row.run for row in finetune_runs() if not _is_stated(row)}


def _is_stated(row: FinetuneRun) -> bool:
    return row.is_stated or row.run in BOUNDED

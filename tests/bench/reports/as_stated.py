"""Published trainings as their sources state them: what a user who knows them would type.

The rule, the same for every run and without a look at its error:

- **code** is `hand_tuned` where the source says that training libraries, kernels or communication
  were written or tuned for it (LLaMA's custom training libraries, llm.c, nanochat, DeepSeek-V3,
  TinyLlama's fused kernels, vendors' MLPerf submissions), `first_version` where it is code without
  fused attention (Hugging Face's LLaMA before December 2023), else `standard`: a released framework
  (Megatron-LM, DeepSpeed, FSDP, Hugging Face Trainer, OLMo-core, Lingvo), or nothing said.
- **the step** is what the run's configuration says: micro-batch, global batch, ZeRO stage,
  checkpointing, tokens of an example where several share a sequence or fill less than one.
- **tokens** count as stated where they are the source's own, or its steps times its batch.

The evidence tables hold most of it; here, and of the steps of pre-trainings in `stated_steps`, is
what they do not, as the fits rest on them as they are.
"""

from __future__ import annotations

from dataclasses import replace

from planner.sizing.evidence.training_runs import FinetuneRun, finetune_runs, published_runs
from planner.sizing.performance.teams import (
    TeamRun,
    finetuning_team_run,
    pretraining_team_run,
)
from tests.bench.reports.stated_steps import PRETRAINING_STEPS

CODES = {
    # "custom training libraries": meta-llama/llama-models models/llama4/MODEL_CARD.md, 2025
    "llama4-scout": "hand_tuned",
    # Lingvo and GSPMD as released: arXiv 2201.08239 section 3, 2022
    "lamda-137B": "standard",
    # OLMo-core, a released framework
    "olmo3-7B": "standard",
    # eager attention: fused attention came to LLaMA in transformers 4.36, December 2023
    "safe-rlhf-alpaca-7b": "first_version",
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
    # README, 2023: 128 examples a step of at most 512, 4 at once, FSDP full_shard; about 192 tokens
    # by the table
    "alpaca-7b": {
        "micro_batch_size": 4,
        "zero_stage": 3,
        "sequence_length": 192,
        "global_batch_tokens": 128 * 192,
    },
    # PKU-Alignment/safe-rlhf scripts/sft.sh, 2023: 4 examples at once, ZeRO stage 3, checkpointing;
    # the same data
    "safe-rlhf-alpaca-7b": {
        "micro_batch_size": 4,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "sequence_length": 192,
        "global_batch_tokens": 128 * 192,
    },
    # run_fsdp.sh and its model cards: 1 packed sequence on each of 8, twice; 4 on one, four times
    "starcoder-copilot-full": {
        "micro_batch_size": 1,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "global_batch_tokens": 16 * 2_048,
    },
    "starcoder-copilot-qlora": {
        "micro_batch_size": 4,
        "activation_checkpointing": True,
        "global_batch_tokens": 16 * 2_048,
    },
    # its command: 1 on each of 16, FULL_SHARD, gradient checkpointing
    "llama2-70b-chat-fsdp": {
        "micro_batch_size": 1,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "global_batch_tokens": 16 * 2_048,
    },
    "mistral-finetune-ultrachat": {"micro_batch_size": 1, "global_batch_tokens": 262_144},
    # config/alpaca.yaml: 128 examples a step, fully sharded
    "levanter-alpaca-tpu": {"zero_stage": 3, "global_batch_tokens": 262_144},
    "levanter-alpaca-a100": {"zero_stage": 3, "global_batch_tokens": 262_144},
    "levanter-alpaca-rtx6000": {"zero_stage": 3, "global_batch_tokens": 262_144},
    "unsloth-tinyllama-t4": {"micro_batch_size": 2, "global_batch_tokens": 8 * 4_096},
    "hf-flax-mnli-8v100": {"micro_batch_size": 4, "global_batch_tokens": 32 * 128},
    "hf-flax-mnli-tpu-v3": {"micro_batch_size": 8, "global_batch_tokens": 32 * 128},
    "hf-mnli-titan-fp32": {"micro_batch_size": 32, "global_batch_tokens": 32 * 128},
    "hf-mnli-titan-fp16": {"micro_batch_size": 32, "global_batch_tokens": 32 * 128},
    "hf-mnli-512-v100": {"micro_batch_size": 16, "global_batch_tokens": 16 * 512},
    "philschmid-banking77-a10g": {"micro_batch_size": 16, "global_batch_tokens": 16 * 512},
    "philschmid-router-l4": {"micro_batch_size": 32, "global_batch_tokens": 32 * 512},
    "nyu-marco-tpu-v2": {"micro_batch_size": 8, "global_batch_tokens": 32 * 512},
    # finetune.py @0003a002: 4 at once, 128 a step; about 100 tokens by the table
    "alpaca-lora-7b": {
        "micro_batch_size": 4,
        "sequence_length": 100,
        "global_batch_tokens": 128 * 100,
    },
    # its table of experiments: ZeRO stage 3 on 4 and 8, checkpointing by its recipe
    "philschmid-l4-1-sdpa": {
        "micro_batch_size": 2,
        "activation_checkpointing": True,
        "global_batch_tokens": 4 * 1_024,
    },
    "philschmid-l4-1-flash": {
        "micro_batch_size": 2,
        "activation_checkpointing": True,
        "global_batch_tokens": 8 * 1_024,
    },
    "philschmid-l4-1-liger": {
        "micro_batch_size": 4,
        "activation_checkpointing": True,
        "chunked_loss": True,
        "global_batch_tokens": 16 * 1_024,
    },
    "philschmid-l4-4": {
        "micro_batch_size": 8,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "chunked_loss": True,
        "global_batch_tokens": 64 * 1_024,
    },
    "philschmid-l4-8": {
        "micro_batch_size": 8,
        "zero_stage": 3,
        "activation_checkpointing": True,
        "chunked_loss": True,
        "global_batch_tokens": 128 * 1_024,
    },
    "peft-llama3.2-3b-full": {"micro_batch_size": 4, "global_batch_tokens": 4 * 210},
    # its model card's table of stages
    "gradient-65k": {"micro_batch_size": 1, "global_batch_tokens": 32 * 65_536},
    "gradient-262k": {"micro_batch_size": 1, "global_batch_tokens": 16 * 262_144},
    "gradient-524k": {"global_batch_tokens": 16 * 524_288},
    "gradient-1048k": {"global_batch_tokens": 16 * 1_048_576},
    "gradient-4194k": {"global_batch_tokens": 4 * 4_194_304},
}
SUBMISSIONS = "llama2-70b-lora-"
"""Runs of MLPerf's Llama 2 70B: a step of 8 sequences of 8,192, of 64 on 64 A100."""
BOUNDED = ("guanaco-65b",)
"""Runs whose tokens are steps times batch times the longest example, grouped by length."""


def as_stated(run: TeamRun) -> TeamRun:
    """A run of the fit with what its source says of code and step."""
    coded = replace(run, code=CODES.get(run.run, run.code))
    if run.run in PRETRAINING_STEPS:
        published = next(one for one in published_runs() if one.run == run.run)
        stepped = pretraining_team_run(published, PRETRAINING_STEPS[run.run])
        assert stepped is not None, f"{run.run}: no layout holds what its source states"
        return replace(stepped, code=coded.code)
    step = STEPS.get(run.run)
    if step is None and run.run.startswith(SUBMISSIONS):
        sequences = 64 if run.run.endswith("64-a100-80gb-sxm") else 8
        step = {"global_batch_tokens": sequences * 8_192}
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

"""Published trainings as their sources state them: what a user who knows them would type.

The rule, the same for every run and without a look at its error:

- **code** is `hand_tuned` where the source says that training libraries, kernels or communication
  were written or tuned for it (LLaMA's custom training libraries, llm.c, nanochat, DeepSeek-V3,
  TinyLlama's fused kernels, vendors' MLPerf submissions), `first_version` where it is code without
  fused attention (Hugging Face's LLaMA before December 2023), else `standard`: a released framework
  (Megatron-LM, DeepSpeed, FSDP, Hugging Face Trainer, OLMo-core, Lingvo), or nothing said.
- **the step** is what the run's configuration says: micro-batch, global batch, ZeRO stage,
  checkpointing, tokens of an example where several share a sequence or fill less than one. A batch
  that grows counts as in most of the run. What a source leaves open, or says in two ways, stays
  out, and so does a micro-batch where the number of accelerators is a guess.
- **tokens** count as stated where they are the source's own, or its steps times its batch.

The evidence tables hold most of it; here and in `stated_steps.csv` is what they do not, as the fits
rest on them as they are. A step without a source has that of its run.
"""

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

from tools.sizing_fit.evidence import finetune_runs, published_runs
from tools.sizing_fit.teams import TeamRun, finetuning_team_run, pretraining_team_run

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
SUBMISSIONS = "llama2-70b-lora-"
"""Runs of MLPerf's Llama 2 70B: a step of 8 sequences of 8,192, of 64 on 64 A100."""


@cache
def stated_steps() -> dict[str, dict[str, object]]:
    """Fields of a training that the source of a run states of its step, by run."""
    path = Path(__file__).with_name("stated_steps.csv")
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            row.pop("run"): {
                name: _value(cell) for name, cell in row.items() if cell and name != "source"
            }
            for row in csv.DictReader(lines)
        }


def _value(cell: str) -> object:
    return int(cell) if cell.isdigit() else {"yes": True, "no": False}.get(cell, cell)


def as_stated(run: TeamRun) -> TeamRun:
    """A run of the fit with what its source says of code and step."""
    coded = replace(run, code=CODES.get(run.run, run.code))
    step = stated_steps().get(run.run)
    if step is None and run.run.startswith(SUBMISSIONS):
        sequences = 64 if run.run.endswith("64-a100-80gb-sxm") else 8
        step = {"global_batch_tokens": sequences * 8_192}
    if step is None:
        return coded
    published = next((one for one in published_runs() if one.run == run.run), None)
    if published is not None:
        stepped = pretraining_team_run(published, step)
    else:
        row = next(row for row in finetune_runs() if row.run == run.run)
        training = row.training.model_copy(update=step)
        stepped = finetuning_team_run(replace(row, code=coded.code, training=training))
    assert stepped is not None, f"{run.run}: no layout holds what its source states"
    return replace(stepped, code=coded.code)

"""Fields of the form for work whose hours are estimated: trainings and samples."""

from __future__ import annotations

from planner.web.common.plan_fields.field import describe_field as _f

TRAINING = (
    _f("workload.model", "Well-known model", kind="text", typical="Llama-3.1-8B",
       help="A name fills in parameters, layers and experts; your own values take precedence."),
    _f("workload.parameters", "Model parameters", unit="billion", scale="bn", typical="7",
       help="Total parameters of the model; 7 for a 7B model."),
    _f("workload.tokens", "Training tokens", unit="billion", scale="bn", typical="140",
       help="Tokens of one run, epochs included. About 20 per parameter to pre-train; "
            "0.01 to 1 billion to fine-tune."),
    _f("workload.optimizer", "Training method", kind="choice", choices="optimizers"),
    _f("workload.precision", "Precision", kind="choice", choices="precisions"),
    _f("workload.active_parameters", "Active parameters", unit="billion", scale="bn",
       help="Mixture-of-experts models only: parameters active per token."),
    _f("workload.sequence_length", "Sequence length", unit="tokens", typical="4096"),
    _f("workload.code", "How well tuned the code is", kind="choice", choices="tunings",
       help="If empty: what the median team has, with the spread of teams in the range."),
)  # fmt: skip

MEASURED = (
    _f("workload.global_batch_tokens", "Global batch", unit="tokens", typical="usual for the work",
       help="Tokens of one optimizer step."),
    _f("workload.mfu", "Model FLOP utilisation (MFU)", term="MFU", unit="%", scale="pct",
       typical="from similar runs",
       help="Leave empty unless you measured it. Above 65% is suspect."),
    _f("workload.tokens_per_second_per_accelerator", "Measured rate", unit="tokens/s",
       help="Of one accelerator of the chosen type, from a run of some 15 minutes: it replaces the "
            "estimate and narrows its range."),
    _f("workload.rollouts.response_tokens", "Reinforcement learning: tokens of an answer",
       typical="no reinforcement learning", unit="tokens",
       help="For training on answers that the model writes itself, on average; the training "
            "tokens are then those of prompts and answers."),
    _f("workload.rollouts.per_step", "Answers of one step", typical="1024",
       help="Of all prompts of a step together."),
    _f("workload.goodput", "Goodput", term="goodput",
       unit="%", scale="pct", typical="from failure rates",
       help="Share of the time that makes progress."),
)  # fmt: skip

SAMPLES = (
    _f("workload.samples", "Samples of one epoch", unit="million", scale="mn", typical="1.28"),
    _f("workload.epochs", "Epochs", typical="90"),
    _f("workload.benchmark", "Benchmark", kind="choice", choices="benchmarks",
       help="A measured workload similar to yours."),
    _f("workload.samples_per_second", "Measured rate", unit="samples/s",
       help="Of one accelerator of the chosen type; replaces the benchmark."),
    _f("workload.forward_gflops_per_sample", "Work of one sample", unit="GFLOP", typical="8.2",
       help="Forward pass of the model, two operations for each multiply-add, where no benchmark "
            "is like yours; 8.2 for ResNet-50."),
    _f("workload.loader", "How images are read", kind="choice", choices="loaders",
       help="Used with the work of one sample. If empty: what teams have, with their spread."),
    _f("workload.code", "How well tuned the code is", kind="choice", choices="tunings",
       help="Used with the work of one sample. A first version is the code of one paper."),
)  # fmt: skip

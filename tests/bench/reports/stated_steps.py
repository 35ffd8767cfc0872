"""What the sources of published pre-trainings say of the step.

A batch that grows counts as in most of the run, and a million tokens that a source rounds as 2^20.
What a source leaves open, or says in two ways, stays out: the micro-batch of most papers, the batch
of Gopher (3 million tokens, then 6, without when) and of GLaMA (24,000 steps and 15,000 for the
same tokens). So does a micro-batch where the number of accelerators is a guess, which may not hold
both (OLMo 3 7B: 2 of 512 sequences are at most 256 accelerators).
"""

from __future__ import annotations

from collections.abc import Mapping

Step = Mapping[str, object]
"""Fields of a training and what the source says of them."""
MILLION = 2**20
LLAMA: Step = {"global_batch_tokens": 4 * MILLION}
PYTHIA: Step = {
    "zero_stage": 1,
    "activation_checkpointing": True,
    "global_batch_tokens": 1_024 * 2_048,
}
OPENELM: Step = {
    "sequence_length": 2_048,
    "micro_batch_size": 16,
    "global_batch_tokens": 128 * 16 * 2_048,
}
LLMC: Step = {"zero_stage": 1, "activation_checkpointing": False}
MTNLG: Step = {"global_batch_tokens": 1_920 * 2_048}
GRANITE: Step = {"sequence_length": 4_096}
GPT_OSS: Step = {"experts": 32, "experts_per_token": 4}
DEEPSEEK: Step = {"experts": 256, "experts_per_token": 8}
REMOE: Step = {"experts": 8, "experts_per_token": 1, "global_batch_tokens": 4 * MILLION}
FIRST_STEPS: dict[str, Step] = {
    # arXiv 2302.13971 Table 2
    "llama1-7B": LLAMA,
    "llama1-33B": LLAMA,
    "llama1-65B": LLAMA,
    # "a global batch-size of 4M tokens": meta-llama/llama-models models/llama2/MODEL_CARD.md
    # @d13eea5e
    "llama2-7B": LLAMA,
    "llama2-13B": LLAMA,
    "llama2-70B": LLAMA,
    # arXiv 2407.21783 on initial pre-training: 16M tokens after 2.87T of its 15.6T
    "llama3.1-405B": {"global_batch_tokens": 16 * MILLION},
    # EleutherAI/pythia models/*/pythia-*.yml @ae1ce75d, @ddad623a, @b14d5af9, @4d0c9018, @31654e58,
    # @55e1182b: sequences of one replica, which has 2 accelerators at 6.9B and 4 at 12B
    "pythia-70M": {**PYTHIA, "micro_batch_size": 32},
    "pythia-410M": {**PYTHIA, "micro_batch_size": 32},
    "pythia-1B": {**PYTHIA, "micro_batch_size": 16},
    "pythia-1.4B": {**PYTHIA, "micro_batch_size": 16},
    "pythia-6.9B": {**PYTHIA, "micro_batch_size": 8},
    "pythia-12B": {**PYTHIA, "micro_batch_size": 8},
    # bigscience-workshop/bigscience train/tr11-176B-ml/tr11-176B-ml.slurm @003b2505: its bf16
    # optimizer is ZeRO stage 1
    "bloom-176B": {
        "micro_batch_size": 2,
        "zero_stage": 1,
        "activation_checkpointing": True,
        "global_batch_tokens": 2_048 * 2_048,
    },
    # facebookresearch/metaseq projects/OPT/chronicles/10_percent_update.md @b8924c0f; the length by
    # its paper
    "opt-175B": {"sequence_length": 2_048, "global_batch_tokens": 2 * MILLION},
    # arXiv 2204.02311: 2,048 sequences from step 115,000 on
    "palm-540B": {"sequence_length": 2_048, "global_batch_tokens": 2_048 * 2_048},
    # arXiv 2112.11446: rematerialisation, a third more work
    "gopher-280B": {"sequence_length": 2_048, "activation_checkpointing": True},
    # arXiv 2201.11990 section 3.2
    "mtnlg-530B-280n": MTNLG,
    "mtnlg-530B-350n": MTNLG,
    # arXiv 2311.16867 Table 16: the optimizer sharded by ZeRO
    "falcon-40B": {
        "sequence_length": 2_048,
        "zero_stage": 1,
        "global_batch_tokens": 1_152 * 2_048,
    },
    # Hugging Face mosaicml/mpt-7b: FSDP and Lion
    "mpt-7B": {
        "sequence_length": 2_048,
        "zero_stage": 3,
        "optimizer": "lion",
        "global_batch_tokens": 1_760 * 2_048,
    },
    # jzhang38/TinyLlama README.md @026587c0, pretrain/tinyllama.py @01c9c774
    "tinyllama-300B": {
        "micro_batch_size": 8,
        "zero_stage": 3,
        "activation_checkpointing": False,
        "global_batch_tokens": 1_024 * 2_048,
    },
    # arXiv 2305.06161 pages 16-17: one sequence at once, 16 times, on each of 32 replicas
    "starcoderbase-15B": {"micro_batch_size": 1, "global_batch_tokens": 512 * 8_192},
    # arXiv 2303.17564 section 3.4 and before: 2,048 sequences from step 7,200 of 139,200 on
    "bloomberggpt-50B": {
        "zero_stage": 3,
        "activation_checkpointing": True,
        "global_batch_tokens": 2_048 * 2_048,
    },
    # THUDM/GLM-130B logs/main-log-en.md @00f6ea61; the length by configs/model_glm_130b_int4.sh; an
    # HFU 4/3 of the MFU "due to re-materialization" by arXiv 2210.02414 page 5
    "glm-130B": {
        "sequence_length": 2_048,
        "activation_checkpointing": True,
        "global_batch_tokens": 4_224 * 2_048,
    },
    # arXiv 2208.01448 sections 3.1 and 4
    "alexatm-20B": {
        "sequence_length": 1_024,
        "zero_stage": 3,
        "global_batch_tokens": 2 * MILLION,
    },
    # "trained with a sequence length of 4096": NVIDIA NGC nemotron-3-8b-base-4k
    "nemotron3-8B": {"sequence_length": 4_096},
    # arXiv 2402.16819 Tables 1 and 2: 1,152 sequences for 7.6T of 8T tokens
    "nemotron4-15B": {"sequence_length": 4_096, "global_batch_tokens": 1_152 * 4_096},
    # Hugging Face pfnet/plamo-13b @d155d07d
    "plamo-13B": {"sequence_length": 4_096},
    # apple/corenet projects/openelm/pretraining_configs/ openelm_270M.yaml ("FSDP + Activation
    # checkpointing are not used") and openelm_3B.yaml (full_shard) @9effa1d5
    "openelm-270M": {**OPENELM, "zero_stage": 0, "activation_checkpointing": False},
    "openelm-3B": {**OPENELM, "zero_stage": 3, "activation_checkpointing": True},
    # arXiv 2306.11644 section 2.3
    "phi-1": {"sequence_length": 2_048, "global_batch_tokens": 1_024 * 2_048},
    # arXiv 2412.08905 section 3
    "phi-4": {"sequence_length": 4_096, "global_batch_tokens": 5_760 * 4_096},
    # "from 4K to 128K" after it: ibm-granite/granite-3.1-language-models README.md
    "granite3-2B": GRANITE,
    "granite3-8B": GRANITE,
    # Hugging Face HuggingFaceTB/SmolLM3-3B-checkpoints
    "smollm3-3B": {"global_batch_tokens": 2_359_296},
    # allenai/OLMo-core src/scripts/official/OLMo3/ OLMo-3-1025-7B-pretrain-1.py @18b8fb66,
    # -pretrain-2.py @138b1fca
    "olmo3-7B": {"global_batch_tokens": 512 * 8_192},
    # arXiv 2201.08239: 256K tokens
    "lamda-137B": {"global_batch_tokens": 256 * 1_024},
    # arXiv 1810.04805 appendix A.2: 256 sequences at full length, as its tokens are counted
    "bert-large": {"sequence_length": 512, "global_batch_tokens": 256 * 512},
    # arXiv 1706.03762 section 5.1: of source and of target each, as its tokens are counted
    "transformer-big": {"global_batch_tokens": 25_000},
    # karpathy/llm.c scripts/run_gpt2_124M.sh @039904ee, run_gpt2_350M.sh @100bba03,
    # run_gpt2_1558M.sh @039904ee: -r 0 recomputes nothing
    "llmc-124M": {**LLMC, "micro_batch_size": 64, "global_batch_tokens": 524_288},
    "llmc-350M": {**LLMC, "micro_batch_size": 64, "global_batch_tokens": 524_288},
    "llmc-1558M": {**LLMC, "micro_batch_size": 16, "global_batch_tokens": 1_048_576},
    # karpathy/nanoGPT config/train_gpt2.py @7fec9693
    "nanogpt-124M": {"micro_batch_size": 12, "global_batch_tokens": 491_520},
    # karpathy/nanochat dev/LEADERBOARD.md @00932d19, run 1
    "nanochat-d24": {
        "sequence_length": 2_048,
        "micro_batch_size": 16,
        "global_batch_tokens": 524_288,
    },
}
LATER_STEPS: dict[str, Step] = {
    # of the rows since rules 5, whose sources stand in published_runs.csv where none does here
    "llmc-124M-h100": {"global_batch_tokens": 524_288},
    "modded-rec2-adamw": {"global_batch_tokens": 524_288},
    "modded-rec4-muon": {"micro_batch_size": 64, "global_batch_tokens": 524_288},
    "modded-scaleup1.5B": {"micro_batch_size": 12, "global_batch_tokens": 491_520},
    "nanochat-d20-a100": {"global_batch_tokens": 524_288},
    "nanochat-d26-fp8": {"global_batch_tokens": 1_048_576},
    "decoderstack-d24": {"global_batch_tokens": 1_048_576},
    "alpha-d24": {"global_batch_tokens": 1_048_576},
    # micro-batches of phase 1, nine tenths of the steps
    "nv-bert-pt-8v100": {"micro_batch_size": 16, "global_batch_tokens": 8_388_608},
    "nv-bert-pt-16v100": {"micro_batch_size": 64, "global_batch_tokens": 8_388_608},
    "nv-bert-tf-8v100": {"micro_batch_size": 16, "global_batch_tokens": 8_388_608},
    "nv-bert-tf-16v100": {"micro_batch_size": 64, "global_batch_tokens": 8_388_608},
    "mosaic-hf-bert-base": {"global_batch_tokens": 524_288},
    # its classifier works in place, as llm.c's; its micro-batch of 64 does not fit by our memory
    "llm.kittens-124M": {"chunked_loss": True, "global_batch_tokens": 524_288},
    "marin-adamw-154M": {"activation_checkpointing": True, "global_batch_tokens": 524_288},
    "marin-adamw-300M": {"activation_checkpointing": True, "global_batch_tokens": 524_288},
    "marin-adamw-602M": {"activation_checkpointing": True, "global_batch_tokens": 1_048_576},
    "marin-adamw-1431M": {"activation_checkpointing": True, "global_batch_tokens": 1_048_576},
    "tohoku-bert-base-char-v2": {"global_batch_tokens": 131_072},
    "codeparrot-small": {"micro_batch_size": 12, "global_batch_tokens": 196_608},
    "codeparrot-1.5B": {"activation_checkpointing": True, "global_batch_tokens": 524_288},
    "polycoder-early": {"global_batch_tokens": 262_144},
    # experts of a layer and of a token, by the same sources
    "llama4-scout": {"experts": 16, "experts_per_token": 1},
    "llama4-maverick": {"experts": 128, "experts_per_token": 1},
    "phi-3.5-moe": {"experts": 16, "experts_per_token": 2},
    "grin-moe": {"experts": 16, "experts_per_token": 2},
    "deepseek-v3": {"experts": 256, "experts_per_token": 8},
    "deepseek-v2": {
        "experts": 160,
        "experts_per_token": 6,
        "global_batch_tokens": 9_216 * 4_096,
    },
    "jetmoe-8b": {"experts": 8, "experts_per_token": 2, "global_batch_tokens": 4_194_304},
    "olmoe-1b-7b": {"experts": 64, "experts_per_token": 8, "global_batch_tokens": 4_194_304},
    "glam-64b-64e": {"experts": 64, "experts_per_token": 2},
    "llama3-8b-e8t2": {"experts": 8, "experts_per_token": 2},
    "marin-moe-147M": {"experts": 64, "experts_per_token": 4},
    "marin-moe-379M": {"experts": 64, "experts_per_token": 4},
    "marin-moe-579M": {"experts": 64, "experts_per_token": 4},
    "geitje-7b": {
        "micro_batch_size": 2,
        "optimizer": "adamw_8bit",
        "activation_checkpointing": True,
        "global_batch_tokens": 1_048_576,
    },
    # hpcaitech/ColossalAI applications/Colossal-LLaMA-2/train.example.sh @53fb5240: 8 sequences of
    # the default 4,096 on each of 64
    "colossal-llama2-7B": {
        "micro_batch_size": 8,
        "zero_stage": 2,
        "activation_checkpointing": True,
        "global_batch_tokens": 64 * 8 * 4_096,
    },
    # frikishaan/glama-124m README.md @3ea5d913
    "glama-124M": {"sequence_length": 1_024},
    # Hugging Face DevParker/NanoGPT-124m-In-A-Cave-With-A-Box-Of-Scraps: 0.92 billion tokens in
    # 1,750 steps
    "gpt2-124M-fp8-4090": {"sequence_length": 1_024, "global_batch_tokens": 524_288},
    # tyler-romero/nanogpt-speedrun run.sh @b3c32f89
    "gpt2-124M-2x4090": {
        "sequence_length": 1_024,
        "micro_batch_size": 32,
        "global_batch_tokens": 262_144,
    },
    # batches and micro-batches by the same result files
    "mlperf6-gpt-oss-20b-8-gb300": GPT_OSS
    | {"micro_batch_size": 3, "global_batch_tokens": 24 * 8_192},
    "mlperf6-gpt-oss-20b-512-gb300": GPT_OSS
    | {"micro_batch_size": 1, "global_batch_tokens": 64 * 8_192},
    "mlperf6-gpt-oss-20b-8-gb200": GPT_OSS
    | {"micro_batch_size": 2, "global_batch_tokens": 16 * 8_192},
    "mlperf6-gpt-oss-20b-72-gb200": GPT_OSS | {"global_batch_tokens": 36 * 8_192},
    "mlperf6-gpt-oss-20b-64-b200": GPT_OSS | {"global_batch_tokens": 64 * 8_192},
    "mlperf6-gpt-oss-20b-8-b300": GPT_OSS
    | {"micro_batch_size": 3, "zero_stage": 1, "global_batch_tokens": 24 * 8_192},
    "mlperf6-deepseek-v3-256-gb300": DEEPSEEK
    | {"micro_batch_size": 1, "global_batch_tokens": 15_360 * 4_096},
    "mlperf6-deepseek-v3-512-gb300": DEEPSEEK | {"global_batch_tokens": 15_360 * 4_096},
    "mlperf6-deepseek-v3-512-gb200": DEEPSEEK | {"global_batch_tokens": 15_360 * 4_096},
    "mlperf6-deepseek-v3-8192-gb200": DEEPSEEK
    | {"micro_batch_size": 1, "global_batch_tokens": 16_384 * 4_096},
    # its batch grows after 5 of 17 trillion tokens
    "trinity-large": {"experts": 256, "experts_per_token": 4},
    "remoe-topk-469M": REMOE,
    "remoe-relu-469M": REMOE,
    "sutra-1.3B": {
        "experts": 48,
        "experts_per_token": 4,
        "micro_batch_size": 8,
        "activation_checkpointing": True,
        "global_batch_tokens": 1_048_576,
    },
    "differential-moe-s": {"experts": 6, "experts_per_token": 2, "global_batch_tokens": 65_536},
    "deepspeed-moe-1.3B-128e": {
        "experts": 128,
        "experts_per_token": 1,
        "global_batch_tokens": 512 * 2_048,
    },
}
NEWEST_STEPS: dict[str, Step] = {
    # of the rows since rules 6, whose sources stand in published_runs.csv
    "gpjt-163M-8a100-40": {"micro_batch_size": 13, "global_batch_tokens": 104 * 1_024},
    "gpjt-163M-8a100-80": {"micro_batch_size": 28, "global_batch_tokens": 224 * 1_024},
    "gpjt-163M-8h100": {"micro_batch_size": 27, "global_batch_tokens": 216 * 1_024},
    "gpjt-163M-8b200": {"micro_batch_size": 64, "global_batch_tokens": 512 * 1_024},
    "gpjt-163M-8a100-fp32": {"micro_batch_size": 12, "global_batch_tokens": 96 * 1_024},
    "gpjt-163M-3090": {"global_batch_tokens": 96 * 1_024},
    # of the phase that most of the tokens are of
    "arabert-v0.2-base": {"global_batch_tokens": 384 * 512},
    "arabert-v0.2-large": {"global_batch_tokens": 13_440 * 128},
    "arabert-v1": {"global_batch_tokens": 512 * 128},
    "german-bert": {"global_batch_tokens": 1_024 * 128},
    "aragpt2-base": {"global_batch_tokens": 1_792 * 1_024},
    "aragpt2-medium": {"global_batch_tokens": 80 * 1_024},
    "aragpt2-large": {"global_batch_tokens": 256 * 1_024},
    "aragpt2-mega": {"global_batch_tokens": 256 * 1_024},
    "gpt2-medium-dutch": {"optimizer": "adafactor", "global_batch_tokens": 128 * 512},
    "gpt2-large-dutch": {"optimizer": "adafactor", "global_batch_tokens": 32 * 512},
    "gpt-neo-1.3B-dutch": {"optimizer": "adafactor", "global_batch_tokens": 16 * 512},
    "minillm-0.2B-14B": {"micro_batch_size": 32, "global_batch_tokens": 128 * 1_024},
    "minillm-0.2B-64B": {"micro_batch_size": 32, "global_batch_tokens": 128 * 1_024},
    "phobert-base": {"global_batch_tokens": 1_024 * 256},
    "phobert-large": {"global_batch_tokens": 512 * 256},
    "mlperf-llama3.1-8B-mi355x": {"micro_batch_size": 2, "global_batch_tokens": 32 * 8_192},
    "neobert-250M": {"micro_batch_size": 32, "global_batch_tokens": 2 * MILLION},
    "h2o-danube-1.8B": {"global_batch_tokens": 576 * 2_048},
    "santacoder-1.1B": {"global_batch_tokens": 192 * 2_048},
    "spanbert-large": {"global_batch_tokens": 256 * 512},
    "tucano-160m": {
        "micro_batch_size": 32,
        "activation_checkpointing": False,
        "global_batch_tokens": 524_288,
    },
    "tucano-630m": {
        "micro_batch_size": 32,
        "activation_checkpointing": False,
        "global_batch_tokens": 524_288,
    },
    "tucano-1b1": {
        "micro_batch_size": 16,
        "activation_checkpointing": False,
        "global_batch_tokens": 524_288,
    },
    "tucano-2b4": {
        "micro_batch_size": 4,
        "activation_checkpointing": False,
        "global_batch_tokens": 262_144,
    },
    "teenytinyllama-160m": {
        "micro_batch_size": 4,
        "activation_checkpointing": False,
        "global_batch_tokens": 4 * 2_048,
    },
    "teenytinyllama-460m": {
        "micro_batch_size": 4,
        "activation_checkpointing": False,
        "global_batch_tokens": 4 * 2_048,
    },
    "lilmoo-0.6B": {"global_batch_tokens": 2_097_152},
    "tucano2-qwen-0.5B": {"global_batch_tokens": 1_048_576},
    "mobilellm-125M": {
        "micro_batch_size": 32,
        "activation_checkpointing": False,
        "global_batch_tokens": 32 * 32 * 2_048,
    },
}
PRETRAINING_STEPS: dict[str, Step] = FIRST_STEPS | LATER_STEPS | NEWEST_STEPS
"""By run of published_runs.csv."""

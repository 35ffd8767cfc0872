"""Sequences beyond the context of a model, and the length where none is given."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.runs.run_warnings import beyond_context


def ask(serving=None, **work):
    workload = {"kind": "training", "tokens": 1e9, **work}
    asked = {"workload": workload, "accelerator": "H100", "accelerators": 8}
    return estimate(asked | ({"serving": serving} if serving else {})).answer


@pytest.mark.parametrize(
    ("model", "length", "words"),
    [
        ("gpt2", 32768, "do not run on gpt2: it has learned 1,024 positions"),
        ("BERT-base", 4096, "do not run on BERT-base: it has learned 512 positions"),
        ("OPT-13B", 4096, "do not run on OPT-13B: it has learned 2,048 positions"),
        ("Llama-2-7B", 32768, "longer than the 4,096 of Llama-2-7B: its positions have to be ext"),
    ],
)
def test_sequences_beyond_the_context_are_named(model, length, words):
    told = " ".join(ask(model=model, sequence_length=length).warnings)
    assert words in told


@pytest.mark.parametrize(
    ("model", "length"), [("gpt2", 1024), ("RoBERTa-large", 512), ("Qwen2.5-7B", 131072)]
)
def test_sequences_within_the_context_are_not(model, length):
    asked = {"kind": "training", "model": model, "tokens": 1e9, "sequence_length": length}
    assert beyond_context(parse(Training, asked)) == ()


def test_prompts_and_answers_are_held_against_the_context_too():
    long = {"tokens_per_second": 100, "prompt_tokens": 100_000}
    words = "prompts with answers of 100,250 tokens do not run on gpt2"
    assert words in " ".join(ask(model="gpt2", serving=long).warnings)
    rollouts = {"prompt_tokens": 6000, "response_tokens": 6000, "per_step": 8}
    work = {"model": "Llama-2-7B", "sequence_length": 4096, "rollouts": rollouts}
    assert "prompts with answers of 12,000 tokens are longer" in " ".join(ask(**work).warnings)


def test_a_model_is_counted_at_no_more_than_its_context_where_no_length_is_given():
    for model, context in (("gpt2", 1024), ("BERT-base", 512), ("Llama-3-8B", 4096)):
        silent, stated = ask(model=model), ask(model=model, sequence_length=context)
        assert silent.accelerator_hours.p50 == pytest.approx(stated.accelerator_hours.p50)
        assert silent.inference.sequence_length == context

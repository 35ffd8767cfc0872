"""A model that puts out classes has neither the work nor the memory of an output over words.

BERT base by hand: 12 layers of 768 units and 30,522 words, so that 23.4 of its 110 million
parameters are the embedding, which is looked up and not multiplied.
"""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.footprint.training_flops import compute_work
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.shapes import model_shape
from planner.sizing.performance.levels import rates_on
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

BERT = {
    "kind": "training",
    "parameters": 1.1e8,
    "tokens": 1.5e8,
    "layers": 12,
    "hidden_size": 768,
    "vocabulary_size": 30_522,
    "sequence_length": 128,
    "stage": "fine_tuning",
}
EMBEDDING = 30_522 * 768
TITAN = get("nvidia-titan-rtx")


def training(**changes):
    return parse(Training, BERT | changes)


def test_the_embedding_is_not_multiplied():
    words, classes = compute_work(training()), compute_work(training(is_classifier=True))
    assert words.model_flops - classes.model_flops == pytest.approx(6 * EMBEDDING * 1.5e8)
    assert words.attention_flops == classes.attention_flops


def test_a_language_model_is_what_is_meant_where_nothing_is_said():
    assert compute_work(training()) == compute_work(training(is_classifier=False))
    assert model_shape(training()) == model_shape(training(is_classifier=False))


def test_frozen_weights_do_not_multiply_it_either():
    words = compute_work(training(optimizer="lora"))
    classes = compute_work(training(optimizer="lora", is_classifier=True))
    assert words.model_flops - classes.model_flops == pytest.approx(4 * EMBEDDING * 1.5e8)


def test_its_hours_fall_by_its_share_of_the_work():
    words, classes = (
        placed_on(training(is_classifier=classes), TITAN).at(1).hours for classes in (False, True)
    )
    assert classes / words == pytest.approx(1 - EMBEDDING / 1.1e8, abs=0.04)


def test_memory_holds_one_embedding_and_no_logits():
    def held(is_classifier):
        task = training(is_classifier=is_classifier, micro_batch_size=32)
        rates = rates_on(task, TITAN, "fp16")
        placed = LayoutTask(task, TITAN, "fp16", rates).on(1)
        return placed.memory

    words, classes = held(False), held(True)
    assert classes.logits_gib == 0 < words.logits_gib
    assert classes.weights_gib == pytest.approx(words.weights_gib)
    assert classes.total_gib < words.total_gib


def test_all_parameters_are_in_the_parts_of_either():
    for is_classifier, matrices in ((False, 2), (True, 1)):
        shape = model_shape(training(is_classifier=is_classifier))
        assert shape.embeddings == matrices
        assert shape.dense + matrices * shape.embedding == pytest.approx(1.1e8)


def test_where_sizes_are_usual_values_the_embedding_is_at_most_a_quarter_of_what_is_at_work():
    asked = {"parameters": 4e9, "active_parameters": 1e8, "vocabulary_size": 1_000_000}
    own = {**asked, "layers": None, "hidden_size": None, "tokens": 1e12}
    words, classes = (compute_work(training(**own, is_classifier=on)) for on in (False, True))
    matrices = words.model_flops - words.attention_flops
    assert classes.model_flops - classes.attention_flops == pytest.approx(0.75 * matrices)


def test_a_large_vocabulary_is_looked_up_whole():
    """XLM-RoBERTa base: 192 of 278 million parameters are its embedding."""
    sizes = {"parameters": 278e6, "vocabulary_size": 250_002, "sequence_length": 512}
    work = compute_work(training(**sizes, tokens=1e9, is_classifier=True))
    body = 278e6 - 250_002 * 768
    assert work.model_flops == pytest.approx((6 * body + 12 * 12 * 768 * 512) * 1e9)


def test_an_embedding_of_more_than_the_model_is_refused():
    with pytest.raises(InvalidInput, match="leaves nothing of the 1e\\+08") as refused:
        training(parameters=1e8, vocabulary_size=250_002, is_classifier=True)
    assert refused.value.field.endswith("vocabulary_size")


@pytest.mark.parametrize(("name", "output"), [("Llama-3.1-8B", 128_256 * 4096), ("gpt2", 0)])
def test_a_named_model_that_classifies_has_no_output_over_words(name, output):
    """Where it is the embedding itself there is none to leave out."""
    asked = {"kind": "training", "model": name, "tokens": 1e8}
    words, classes = (parse(Training, {**asked, **more}) for more in ({}, {"is_classifier": True}))
    assert words.parameters - classes.parameters == pytest.approx(output)


def test_what_writes_no_words_is_not_served():
    asked = {"kind": "training", "model": "BERT-base", "tokens": 1e8, "is_classifier": True}
    serving = {"tokens_per_second": 100, "output_tokens": 100}
    with pytest.raises(InvalidInput, match="words written") as refused:
        estimate({"workload": asked, "serving": serving})
    assert refused.value.field == "serving"


def test_a_classifier_writes_no_answers():
    with pytest.raises(InvalidInput, match="answers that it writes") as refused:
        training(is_classifier=True, rollouts={"response_tokens": 100, "per_step": 64})
    assert refused.value.field.endswith("is_classifier")

"""What was sized under rules 5 keeps its figures, and what rules 6 change."""

import pytest

from planner.sizing.estimate import estimate

KEPT = [
    ({"model": "Llama 3.1 8B", "tokens": 1e10}, 16, (280.284, 468.561, 681.7898)),
    (
        {"model": "Qwen3 8B", "tokens": 1e9, "sequence_length": 32768},
        16,
        (50.1714, 93.8972, 412.5202),
    ),
    (
        {"model": "Mixtral 8x7B", "tokens": 1e11, "code": "standard"},
        64,
        (8333.2729, 10806.7815, 14201.6189),
    ),
    ({"model": "Gemma 3 27B", "tokens": 1e8, "optimizer": "qlora"}, 1, (7.9335, 14.9738, 41.5377)),
    (
        {"model": "Qwen3-0.6B", "tokens": 1e10, "sequence_length": 131072},
        16,
        (153.5173, 256.6405, 373.4303),
    ),
    ({"model": "DeepSeek-V3", "tokens": 1e10}, 512, (2508.1354, 4694.0448, 20622.4291)),
    (
        {"model": "Gemma 3 27B", "tokens": 1e9, "sequence_length": 32768},
        32,
        (155.3763, 290.791, 1277.5373),
    ),
]
KEPT_4 = [
    (KEPT[4][0], 16, (266.2215, 446.2438, 637.5406)),
    (KEPT[5][0], 512, (1176.2947, 3800.5941, 43781.5514)),
    (KEPT[6][0], 32, (112.6949, 364.116, 4194.4925)),
]
ADAPTERS = [
    ({"model": "Llama 2 7B", "optimizer": "qlora", "sequence_length": 2048}, 2, True, 10.0302),
    ({"model": "Llama 2 7B", "optimizer": "qlora", "sequence_length": 1024}, 1, False, 11.648),
    ({"model": "Gemma 3 27B", "optimizer": "qlora"}, 1, True, 33.2099),
    ({"model": "Llama 3.1 8B", "optimizer": "lora"}, 1, False, 40.7532),
]
IMAGES = {
    "kind": "samples",
    "samples": 1281167,
    "epochs": 90,
    "forward_gflops_per_sample": 8.2,
    "architecture": "convolutional",
}


def hours(rules, workload, count):
    asked = {"workload": workload, "accelerator": "H100", "accelerators": count}
    one = estimate({**asked, "rules": rules}).answer.accelerator_hours
    return one.p10, one.p50, one.p90


@pytest.mark.parametrize(("workload", "count", "before"), KEPT)
def test_edition_5_keeps_its_figures(workload, count, before):
    assert hours(5, {"kind": "training"} | workload, count) == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize(("workload", "count", "before"), KEPT_4)
def test_editions_before_know_no_width_and_windows(workload, count, before):
    assert hours(4, {"kind": "training"} | workload, count) == pytest.approx(before, rel=1e-5)


def test_attention_has_the_width_of_its_heads():
    """Attention is nearly all of the work at 131,072 tokens, and twice as wide."""
    work, count, (_, before, _) = KEPT[4]
    assert hours(6, {"kind": "training"} | work, count)[1] == pytest.approx(1.87 * before, rel=0.1)


def test_windows_shorten_attention_and_the_answer_says_so():
    work, count, (_, before, _) = KEPT[6]
    work = {"kind": "training"} | work
    assert hours(6, work, count)[1] == pytest.approx(0.763 * before, rel=0.1)
    asked = {"workload": work, "accelerator": "H100", "accelerators": count}
    whole = {"workload": work | {"sliding_layers": 0}}
    answers = [estimate(asked | more).answer for more in ({}, {"rules": 5}, whole)]
    warned = ["windows of 52 layers" in " ".join(answer.warnings) for answer in answers]
    assert warned == [True, False, False]


def test_answers_for_training_keep_to_windows_under_every_edition():
    """What answers keep in the cache is bounded by windows since rules 3."""
    rollouts = {"response_tokens": 8000, "per_step": 512}
    work = {"kind": "training", "model": "Gemma 3 27B", "tokens": 1e8, "rollouts": rollouts}
    whole = hours(5, work | {"sliding_layers": 0}, 32)[1]
    assert hours(5, work, 32)[1] < whole


FLOPS_BEFORE = 1.4700242304e19
CLASSIFIER = {"model": "gpt-oss-20b", "tokens": 1e9, "is_classifier": True}


def flops(rules, **changes):
    asked = {"workload": {"kind": "training"} | CLASSIFIER | changes, "accelerator": "H100"}
    return estimate({**asked, "rules": rules}).answer.training_flops


def test_a_classifier_loses_its_embedding_once_where_its_published_figure_has_none():
    """gpt-oss-20b has 201,088 words of 2,880 units, which its 3.6 billion at work leave out."""
    embedding = 201_088 * 2_880
    assert flops(6) - flops(5) == pytest.approx(6 * embedding * 1e9)


def test_what_a_team_states_and_other_families_stay():
    assert flops(6, active_parameters=2.5e9) == flops(5, active_parameters=2.5e9)
    assert flops(6, model="Mixtral 8x7B") == flops(5, model="Mixtral 8x7B")
    assert flops(6, is_classifier=False) == flops(5, is_classifier=False)


def test_edition_5_keeps_a_classifier_of_such_a_family():
    assert flops(5) == pytest.approx(FLOPS_BEFORE, rel=1e-6)


def test_edition_5_keeps_its_images():
    assert hours(5, IMAGES, 8) == pytest.approx((7.6589, 14.7238, 33.581), rel=1e-5)


def held_gib(rules, workload, size, is_checkpointed):
    step = {"micro_batch_size": size, "activation_checkpointing": is_checkpointed}
    training = {"kind": "training", "tokens": 1e8, **workload, **step}
    request = {"workload": training, "accelerator": "H100", "accelerators": 1, "rules": rules}
    return estimate(request).answer.memory_per_accelerator_gib


@pytest.mark.parametrize(("workload", "size", "is_checkpointed", "before"), ADAPTERS)
def test_edition_5_keeps_its_memory_of_adapters(workload, size, is_checkpointed, before):
    assert held_gib(5, workload, size, is_checkpointed) == pytest.approx(before, rel=1e-5)
    now = held_gib(6, workload, size, is_checkpointed)
    assert abs(now / before - 1) > 0.02

"""What speaks for and against each accelerator, and where its price and time place it."""

import pytest

from planner.sizing.candidates.other_chips import find_front, with_prices
from planner.sizing.estimate import estimate

SEVEN = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
TINY = {"kind": "training", "parameters": 1e8, "tokens": 1e8, "optimizer": "lora"}
HUGE = {"kind": "training", "parameters": 70e9, "tokens": 2e12}


@pytest.fixture(scope="module")
def answer():
    return estimate({"workload": SEVEN}).answer


@pytest.fixture(scope="module")
def cards(answer):
    return {one.accelerator: one for one in answer.candidates}


def test_a_card_that_the_model_does_not_fit_is_out_whatever_else_it_has(cards):
    alone = estimate({"workload": SEVEN, "accelerator": "nvidia-h100-80gb-sxm"}).answer
    needed = alone.memory_breakdown
    held = needed.weights_gib + needed.gradients_gib + needed.optimizer_gib
    assert alone.min_accelerators > 1
    assert all(
        one.min_accelerators > 1 for one in cards.values() if one.fits and one.memory_gib < held
    )


def test_bandwidth_is_a_figure_of_every_card_that_fits(cards):
    rates = {slug: one.memory_bandwidth_gb_per_s for slug, one in cards.items()}
    assert (rates["nvidia-h100-80gb-sxm"], rates["nvidia-l4"]) == (3360, 300.1)
    assert all(rates[slug] for slug, one in cards.items() if one.fits and one.cores)


def test_cores_times_clock_give_the_rate(cards):
    h100 = cards["nvidia-h100-80gb-sxm"]
    assert (h100.cores, h100.base_clock_mhz, h100.boost_clock_mhz) == (16896, 1590, 1980)
    assert h100.dense_tflops == 989.4
    fp32 = estimate({"workload": {**SEVEN, "precision": "fp32"}}).answer.candidates
    a100 = next(one for one in fp32 if one.accelerator == "nvidia-a100-80gb-sxm")
    assert a100.dense_tflops == pytest.approx(2 * a100.cores * a100.boost_clock_mhz / 1e6, rel=0.01)


def test_interconnect_counts_for_several_cards(cards):
    sxm, pcie = cards["nvidia-h100-80gb-sxm"], cards["nvidia-h100-80gb-pcie"]
    assert (sxm.interconnect, sxm.interconnect_gb_per_s) == ("nvlink", 900)
    assert sxm.accelerators > 1
    work = {**SEVEN, "parameters": 30e9}
    exposed = {
        slug: estimate(
            {"workload": work, "accelerator": slug, "accelerators": 64}
        ).answer.parallelism.exposed_communication
        for slug in (sxm.accelerator, pcie.accelerator)
    }
    assert exposed[pcie.accelerator] > exposed[sxm.accelerator]


@pytest.mark.parametrize(
    ("precision", "rates"),
    [
        (None, {"v100-16gb-sxm": 125.0, "t4": 65.1, "a100-80gb-sxm": 312.0}),
        ("fp32", {"v100-16gb-sxm": 15.67, "t4": 8.14, "a100-80gb-sxm": 156.0}),
    ],
)
def test_images_name_the_rate_of_the_unit_that_multiplies(precision, rates):
    """Mixed precision runs in 16 bits on cards without bf16, fp32 as TF32 where there is one."""
    images = {"kind": "samples", "samples": 1e6, "epochs": 9, "forward_gflops_per_sample": 8.2}
    answer = estimate({"workload": {**images, "precision": precision}}).answer
    by_slug = {one.accelerator: one for one in answer.candidates}
    for slug, tflops in rates.items():
        card = by_slug[f"nvidia-{slug}"]
        assert card.dense_tflops == tflops
        assert any(f"{tflops:,.0f} TFLOP/s dense" in why for why in card.reasons)


@pytest.mark.parametrize(
    ("workload", "tier", "serves", "does_not"),
    [
        (TINY, "light", "nvidia-l4", None),
        ({**TINY, "parameters": 7e9, "tokens": 2e9}, "complex", "nvidia-l40s", "nvidia-l4"),
        (HUGE, "very_demanding", "nvidia-h100-80gb-sxm", "nvidia-l40s"),
    ],
)
def test_each_tier_names_the_cards_that_serve_it(workload, tier, serves, does_not):
    answer = estimate({"workload": workload}).answer
    assert answer.tier == tier
    assert serves in answer.tier_accelerators
    assert does_not not in answer.tier_accelerators
    by_slug = {one.accelerator: one for one in answer.candidates}
    assert all(by_slug[slug].fits for slug in answer.tier_accelerators)


@pytest.mark.parametrize(("parameters", "tokens", "enough"), [(1e6, 1e8, True), (7e9, 1e12, False)])
def test_a_cpu_is_enough_or_not(parameters, tokens, enough):
    workload = {"kind": "training", "parameters": parameters, "tokens": tokens}
    cpu = estimate({"workload": workload}).answer.cpu
    assert cpu.is_enough is enough
    assert (cpu.hours < 12) is enough


def test_a_cpu_that_takes_no_longer_is_enough():
    """A recommendation model of 4.2 billion clicks, whose hours are those of reading them."""
    clicks = {"kind": "samples", "samples": 4.2e9, "epochs": 1, "forward_gflops_per_sample": 0.0048}
    estimated = estimate({"workload": clicks, "accelerator": "A100 80GB"}).answer
    assert 12 < estimated.cpu.hours < estimated.accelerator_hours.p50
    assert estimated.cpu.is_enough
    assert "would take no longer" in estimated.cpu.note


def chip(answer, name):
    return next(one for one in answer.chips if name in one.chips)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["TPU", "Trainium"])
@pytest.mark.parametrize(("tokens", "better"), [(1e10, False), (2e13, True)])
def test_a_tpu_or_trainium_is_better_where_hours_carry_the_port(name, tokens, better):
    request = {"workload": {**SEVEN, "tokens": tokens}, "accelerator": "nvidia-h100-80gb-sxm"}
    advice = chip(estimate(request).answer, name)
    assert (advice.kind, advice.use, advice.is_better) == ("asic", "training", better)
    assert advice.porting_usd == 30_000
    assert "30,000 USD of engineering" in advice.words


@pytest.mark.parametrize(("tpu_usd", "better"), [(0.5, True), (4.0, False)])
def test_with_prices_an_asic_is_judged_by_what_it_saves(answer, cards, tpu_usd, better):
    prices = {"nvidia-h100-80gb-sxm": 3.0, "google-tpu-v5e": tpu_usd}
    priced = with_prices(answer, prices.get)
    advice = chip(priced, "TPU")
    hours = {slug: cards[slug].accelerator_hours for slug in prices}
    rents = {slug: hours[slug] * usd for slug, usd in prices.items()}
    saving = rents["nvidia-h100-80gb-sxm"] - rents["google-tpu-v5e"] - 30_000
    assert advice.saving_usd == pytest.approx(saving)
    assert advice.is_better is better
    assert ("not worth a port" in advice.words) is not better
    assert priced.other_chips[0] == advice.words


@pytest.mark.parametrize(("rate", "better"), [(2, False), (400, True)])
def test_inferentia_is_better_where_serving_carries_the_port(rate, better):
    work = {"kind": "serving", "model": "7B", "requests_per_second": rate}
    request = {"workload": work, "accelerator": "nvidia-h100-80gb-sxm"}
    advice = chip(estimate(request).answer, "Inferentia")
    assert (advice.use, advice.is_better) == ("serving", better)
    assert advice.porting_usd == 15_000


@pytest.mark.parametrize(("workload", "better"), [(SEVEN, False), (TINY, None)])
def test_an_fpga_is_no_choice_for_a_model_it_cannot_hold(workload, better):
    advice = chip(estimate({"workload": workload}).answer, "FPGA")
    assert (advice.kind, advice.use, advice.is_better) == ("fpga", "serving", better)
    assert advice.porting_usd == 180_000


def test_consumer_cards_carry_error_correction_licence_and_cooling(cards):
    subjects = {"error_correction", "licence", "cooling"}
    consumer = [
        one
        for one in cards.values()
        if one.accelerator_class == "consumer" and one.accelerator.startswith("nvidia")
    ]
    assert len(consumer) > 10
    assert all(one.restrictions.keys() >= subjects for one in consumer)
    assert not subjects & cards["nvidia-h100-80gb-sxm"].restrictions.keys()


SEVEN_WHY = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
TINY_WHY = {"kind": "training", "parameters": 1e8, "tokens": 1e8, "optimizer": "lora"}


@pytest.fixture(scope="module")
def candidates():
    return {one.accelerator: one for one in estimate({"workload": SEVEN_WHY}).answer.candidates}


def reasons(candidates, slug):
    return " | ".join(candidates[slug].reasons)


def test_memory_comes_first_and_names_both_precisions(candidates):
    first = candidates["nvidia-h100-80gb-sxm"].reasons[0]
    assert first.startswith("memory: weights are 28 GB in fp32 and 14 GB in half precision")


def test_bandwidth_arithmetic_and_links_follow(candidates):
    words = [r.split(":")[0] for r in candidates["nvidia-h100-80gb-sxm"].reasons]
    assert words == ["memory", "bandwidth", "arithmetic", "links"]


def test_cards_on_pcie_say_what_their_traffic_takes(candidates):
    assert "PCIe or the network" in reasons(candidates, "nvidia-l40s")
    assert "of the working time" in reasons(candidates, "nvidia-l40s")


@pytest.mark.parametrize("slug", ["google-tpu-v5e", "aws-trainium2", "intel-gaudi3"])
def test_other_chips_say_what_porting_takes(candidates, slug):
    assert "ASIC" in reasons(candidates, slug)


def test_retired_and_inference_only_cards_are_marked(candidates):
    assert candidates["nvidia-k80"].why_not.startswith("retired")
    assert candidates["aws-inferentia2"].why_not == "built for inference, not for training"


@pytest.mark.parametrize(
    ("workload", "accelerators", "tier"),
    [(TINY_WHY, 1, "light"), (SEVEN_WHY, 8, "complex"), (SEVEN_WHY, 64, "very_demanding")],
)
def test_work_has_a_tier_and_its_cards(workload, accelerators, tier):
    request = {"workload": workload, "accelerator": "H100 SXM", "accelerators": accelerators}
    answer = estimate(request).answer
    assert answer.tier == tier
    assert answer.tier_cards


def test_no_point_of_the_front_is_beaten_in_both():
    points = {str(i): (100 + (i * 37) % 90, 10 + (i * 53) % 70) for i in range(40)}
    front = find_front(points)
    for name in front:
        money, hours = points[name]
        assert not any(
            m <= money and h <= hours and (m, h) != (money, hours) for m, h in points.values()
        )
    for name in points.keys() - front.keys():
        money, hours = points[name]
        assert any(points[f][0] <= money and points[f][1] <= hours for f in front)
    assert points[next(n for n, c in front.items() if c == "cheapest")][0] == min(
        money for money, _ in points.values()
    )


def test_an_estimate_is_priced_by_its_hours():
    answer = estimate({"workload": {"kind": "training", "parameters": 7e9, "tokens": 1e11}}).answer
    prices = {"nvidia-h100-80gb-sxm": 3.0, "nvidia-a100-80gb-sxm": 1.5, "nvidia-b200": 6.0}
    priced = with_prices(answer, prices.get).candidates
    known = {one.accelerator: one for one in priced if one.rent_usd is not None}
    assert known.keys() == prices.keys()
    h100 = known["nvidia-h100-80gb-sxm"]
    assert h100.rent_usd == h100.accelerator_hours * 3.0
    assert {one.choice for one in priced} >= {"cheapest", None}


def test_time_is_that_on_the_machines_that_are_rented():
    """One B200 in a machine of eight ends in an eighth of the time, at the same rent."""
    answer = estimate({"workload": {"kind": "training", "parameters": 1e9, "tokens": 1e9}}).answer
    prices = {"nvidia-gb200": 9.0, "nvidia-b200": 6.0}
    machines = {"nvidia-gb200": 4, "nvidia-b200": 8}
    priced = with_prices(answer, prices.get, lambda slug, _: machines[slug]).candidates
    b200, gb200 = (
        next(c for c in priced if c.accelerator == f"nvidia-{n}") for n in ("b200", "gb200")
    )
    assert gb200.wall_clock_hours < b200.wall_clock_hours
    assert gb200.rented_wall_clock_hours > b200.rented_wall_clock_hours
    assert b200.rented_wall_clock_hours * 8 == b200.accelerator_hours
    assert (b200.rented_accelerators, b200.choice, gb200.choice) == (8, "cheapest", None)


def test_a_chip_is_judged_by_names_that_people_know():
    workload = {"kind": "training", "parameters": 7e9, "tokens": 1e11}
    prices = {"nvidia-h100-80gb-sxm": 3.0, "google-tpu-v6e": 2.0}
    answer = with_prices(estimate({"workload": workload}).answer, prices.get)
    words = " ".join(answer.other_chips)
    assert "Google TPU v6e" in words
    assert "google-tpu" not in words
    assert "nvidia-h100" not in words

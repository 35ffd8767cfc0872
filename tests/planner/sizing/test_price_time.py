"""Money against time: cheapest, fastest, knee."""

from planner.sizing.candidates.other_chips import find_front, with_prices
from planner.sizing.estimate import estimate


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


def test_one_point_is_the_cheapest_and_none_is_no_front():
    assert find_front({"a": (1.0, 1.0)}) == {"a": "cheapest"}
    assert find_front({}) == {}


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


def test_figures_without_a_source_are_named_in_words():
    answer = estimate({"workload": {"kind": "training", "parameters": 7e9, "tokens": 1e11}}).answer
    notes = [note for one in answer.candidates for note in one.notes if "no source" in note]
    assert notes
    assert not any("_" in note for note in notes)

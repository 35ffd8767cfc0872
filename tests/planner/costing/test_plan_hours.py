"""A load given hour by hour: the same cost as a model of every hour, and every hour served."""

import highspy
import numpy as np
import pytest

from planner.costing.plan_hours import HourSource, dispatch_hours
from tests.properties import IS_LONG

RENT = HourSource("rent", 8.0, 24.0)


def hour_by_hour(load, sources):
    """The optimum of the model with a column per source and hour, which HiGHS proves."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 0.0)
    for source in sources:
        most = highspy.kHighsInf if source.max_units is None else source.max_units
        highs.addVar(0, 0.0 if source.is_rented else most)
        highs.changeColCost(highs.getNumCol() - 1, source.unit_cost)
        highs.changeColIntegrality(highs.getNumCol() - 1, highspy.HighsVarType.kInteger)
    for level in load:
        first = highs.getNumCol()
        for i, source in enumerate(sources):
            highs.addVar(0, highspy.kHighsInf)
            column = highs.getNumCol() - 1
            highs.changeColCost(column, source.hour_cost)
            if not source.is_rented:
                highs.addRow(
                    -highspy.kHighsInf, 0.0, 2, np.array([column, i]), np.array([1.0, -1.0])
                )
        columns = np.arange(first, highs.getNumCol())
        capacity = np.array([s.capacity for s in sources])
        highs.addRow(float(level), highspy.kHighsInf, columns.size, columns, capacity)
    highs.run()
    return highs.getInfo().objective_function_value


def random_case(seed):
    random = np.random.default_rng(seed)
    hours = int(random.integers(5, 60))
    load = random.choice([0.0, 1.0, 3.0, 8.0, 20.5], hours) * random.choice([1.0, random.random()])
    sources = [HourSource("rent", float(random.choice([1.0, 8.0])), float(random.uniform(2, 30)))]
    for i in range(random.integers(1, 4)):
        size = float(random.choice([1.0, 2.0, 8.0, 3.6]))
        sources.append(
            HourSource(
                f"held {i}",
                size,
                hour_cost=float(random.choice([0.0, 0.3, 1.0])) * size,
                unit_cost=float(random.uniform(5, 60)) * size,
                max_units=int(random.integers(0, 4)) if random.random() < 0.3 else None,
            )
        )
    return load, sources


def test_holds_units_for_the_hours_that_pay_for_them():
    load = np.repeat([8.0, 24.0], [6000, 2760])
    plan = dispatch_hours(load, [RENT, HourSource("year", 8.0, 0.0, 100_000.0)])

    assert plan.units == {"year": 1}
    assert plan.cost == pytest.approx(100_000 + 2 * 2760 * 24)
    assert plan.bound == pytest.approx(plan.cost)


def test_every_hour_is_served_and_no_unit_beyond_its_capacity():
    load, sources = random_case(3)
    plan = dispatch_hours(load, sources)
    served = sum(s.capacity * plan.node_hours[s.key] for s in sources)

    assert served == pytest.approx(load)
    for source in sources[1:]:
        assert plan.node_hours[source.key].max(initial=0) <= plan.units[source.key] + 1e-9


def test_a_load_of_nothing_costs_nothing():
    assert dispatch_hours(np.zeros(24), [RENT]).cost == 0


def test_no_source_that_can_serve_it_all_is_no_plan():
    assert dispatch_hours(np.full(3, 20.0), [HourSource("dgx", 8.0, 1.0, 5.0, max_units=2)]) is None


def test_a_unit_dearer_to_run_than_the_rental_is_not_held():
    plan = dispatch_hours(np.full(9, 8.0), [RENT, HourSource("old", 8.0, 30.0, 0.0, max_units=4)])

    assert plan.units == {"old": 0}


@pytest.mark.parametrize("seed", range(400 if IS_LONG else 12))
def test_costs_what_the_model_of_every_hour_costs(seed):
    load, sources = random_case(seed)
    plan = dispatch_hours(load, sources)

    assert plan.cost == pytest.approx(hour_by_hour(load, sources), rel=1e-6, abs=1e-6)
    assert plan.bound <= plan.cost


def test_the_order_of_the_sources_changes_nothing():
    load, sources = random_case(11)

    assert dispatch_hours(load, sources).cost == dispatch_hours(load, sources[::-1]).cost

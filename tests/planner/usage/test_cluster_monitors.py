"""sreport, XDMoD, Prometheus, OpenCost, SkyPilot and Weights & Biases."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read, reasons, table, unused_hours

SREPORT = b"""Cluster Utilization 2025-05-01T00:00:00 - 2025-06-01T00:00:00
Usage reported in TRES Hours
Cluster|TRES Name|Allocated|Down|PLND Down|Idle|Planned|Reported
c1|cpu|10|0|0|5|0|15
c1|gres/gpu:h100|900|20|0|80|0|1000
"""


def test_sreport_says_what_was_allocated_and_idle():
    usage = read(SREPORT)
    assert hours_by(usage.ledger, "accelerator") == {"nvidia-h100-80gb-sxm": 900.0}
    assert unused_hours(usage) == {("2025-05", "c1", "idle"): 80.0}
    assert any("sreport counts reserved" in note for note in usage.notes())


def test_sreport_without_its_head_needs_unit_and_month():
    row = b"c1|gres/gpu|3600|0|0|720|0|4320\n"
    with pytest.raises(InvalidInput, match="unit: is not stated"):
        read(row)
    with pytest.raises(InvalidInput, match="month: is not stated"):
        read(row, unit="minutes")
    usage = read(row, unit="minutes", month="2025-05")
    assert hours_by(usage.ledger, "month") == {"2025-05": 60.0}


def test_sreport_counts_an_hour_once_where_types_stand_beside_all():
    types = b"c1|gres/gpu:a100|200|0|0|40|0|240\n"
    rows = b"c1|gres/gpu|1200|20|0|150|0|1350\n" + types
    others = b"c1|gres/gpumem|99999999|0|0|0|0|99999999\nc1|gres/gpuutil|700|0|0|0|0|700\n"
    usage = read(SREPORT + rows + others)
    assert hours_by(usage.ledger, "accelerator") == {
        "nvidia-h100-80gb-sxm": 900.0, "a100": 200.0, "": 100.0
    }  # fmt: skip
    assert unused_hours(usage) == {("2025-05", "c1", "idle"): 150.0}
    assert reasons(usage) == {"accelerator_use": 3, "no_accelerator": 3}
    assert any("an hour counts once" in note for note in usage.notes())


def test_reports_of_days_of_a_month_add_up():
    first = SREPORT.replace(b"2025-06-01", b"2025-05-02") + b"c1|gres/gpu|1000|20|0|90|0|1110\n"
    usage = read(first + first.replace(b"2025-05-01", b"2025-05-02"))
    assert hours_by(usage.ledger, "accelerator") == {"nvidia-h100-80gb-sxm": 1800.0, "": 200.0}
    assert unused_hours(usage) == {("2025-05", "c1", "idle"): 180.0}


def test_xdmod_is_a_series_of_groups():
    text = (
        b'title\n"GPU Hours: Total"\nparameters\n\nstart,end\n2025-04-01,2025-05-31\n---------\n'
        b'Month,"[lab-a] GPU Hours: Total","[lab-b] GPU Hours: Total"\n'
        b"2025-04,100.5,20\n2025-05,200,0\n---------\n"
    )
    usage = read(text)
    assert hours_by(usage.ledger, "account") == {"lab-a": 300.5, "lab-b": 20.0}
    assert hours_by(usage.ledger, "month") == {"2025-04": 120.5, "2025-05": 200.0}


def test_other_figures_of_xdmod_are_refused():
    text = b'title\nx\n---------\nMonth,"[a] CPU Hours: Total"\n2025-04,1\n---------\n'
    with pytest.raises(InvalidInput, match="other figures than GPU Hours"):
        read(text)


def series(values, **labels):
    metric = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "modelName": "NVIDIA H100 80GB HBM3"}
    return {"metric": metric | {"gpu": "0", "Hostname": "n1"} | labels, "values": values}


def prometheus(*results):
    data = {"resultType": "matrix", "result": list(results)}
    return json.dumps({"status": "success", "data": data}).encode()


START = 1_746_500_000 // 600 * 600


def test_a_range_of_prometheus_is_samples_times_step():
    busy = [[START + 600 * n, "80"] for n in range(4)]
    still = [[START + 600 * n, "0"] for n in (0, 1, 3)]
    usage = read(
        prometheus(
            series(busy, exported_pod="p", exported_namespace="llm"),
            series(still, exported_pod="p", exported_namespace="llm", gpu="1"),
            series(busy, gpu="2"),
        )
    )
    [row] = usage.month_rows()
    assert row["accelerator_hours"] == pytest.approx(7 * 600 / 3600, abs=1e-6)
    assert row["busy_share"] == pytest.approx(4 / 7, abs=1e-6)
    assert row["utilisation"] == pytest.approx(0.8 * 4 / 7, abs=1e-6)
    assert row["unknown_hours"] == pytest.approx(1 / 6, abs=1e-6)
    assert row["unused_accelerator_hours"] == pytest.approx(4 / 6, abs=1e-6)
    assert hours_by(usage.ledger, "project").keys() == {"llm"}


def test_unknown_samples_are_not_zero_and_slices_not_whole_ones():
    values = [[START, "NaN"], [START + 600, "9223372036854775794"], [START + 1200, "50"]]
    slice_values = [[START, "NaN"], [START + 600, "10"]]
    usage = read(
        prometheus(
            series(values, pod="p"),
            series(slice_values, pod="p", GPU_I_ID="3", GPU_I_PROFILE="1g.5gb"),
        )
    )
    assert reasons(usage) == {"unknown_sample": 4, "accelerator_use": 1}


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"resultType": "vector"}, "is no range"), ({"result": [{"values": 1}]}, "is no answer")],
)
def test_other_answers_of_prometheus_are_refused(change, problem):
    data = {"resultType": "matrix", "result": []} | change
    with pytest.raises(InvalidInput, match=problem):
        read(json.dumps({"status": "success", "data": data}).encode())


def test_an_accelerator_with_both_metrics_counts_once():
    busy = [[START + 600 * n, "80"] for n in range(4)]
    active = [[START + 600 * n, "0.4"] for n in range(4)]
    pod = {"exported_pod": "p", "exported_namespace": "llm"}
    other = {**pod, "__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE"}
    alone = series(active, **other, gpu="1")
    usage = read(prometheus(series(busy, **pod), series(active, **other), alone))
    [row] = usage.month_rows()
    assert row["accelerator_hours"] == pytest.approx(8 * 600 / 3600, abs=1e-6)
    assert row["utilisation"] == pytest.approx((0.8 + 0.4) / 2, abs=1e-6)
    assert reasons(usage) == {"accelerator_use": 8, "duplicate": 4}


def allocation(hours, cost, **properties):
    return {
        "properties": {"cluster": "c1", **properties},
        "window": {"start": "2025-05-06T00:00:00Z", "end": "2025-05-07T00:00:00Z"},
        "start": "2025-05-06T00:00:00Z",
        "end": "2025-05-07T00:00:00Z",
        "gpuCount": 99,
        "gpuHours": hours,
        "gpuCost": cost,
    }


def test_opencost_is_read_by_its_hours_and_idle_is_nobody_s():
    sets = {
        "a": allocation(96.0, 240.0, namespace="llm", labels={"team": "chat"}),
        "b": allocation(4.5, 9.0, namespace="vision"),
        "c": allocation(0.0, 0.0, namespace="web"),
        "c1/__idle__": allocation(24.0, 60.0),
    }
    usage = read(json.dumps({"code": 200, "data": [sets]}).encode())
    assert hours_by(usage.ledger, "project") == {"chat": 96.0, "vision": 4.5}
    assert list(unused_hours(usage).values()) == [24.0]
    assert reasons(usage) == {"accelerator_use": 2, "no_accelerator": 1, "idle": 1}


def test_an_allocation_over_the_end_of_a_month_is_split():
    period = {"start": "2025-01-15T00:00:00Z", "end": "2025-03-15T00:00:00Z"}
    one = allocation(1416.0, 708.0) | period
    usage = read(json.dumps({"code": 200, "data": [{"a": one, "c/__idle__": one}]}).encode())
    hours = {"2025-01": 408.0, "2025-02": 672.0, "2025-03": 336.0}
    assert hours_by(usage.ledger, "month") == pytest.approx(hours)
    assert {key[0]: n for key, n in unused_hours(usage).items()} == pytest.approx(hours)


def cluster(**changes):
    resources = {"cloud": "AWS", "instance_type": "p5.48xlarge", "accelerators": {"H100": 8}}
    return {
        "name": "a",
        "num_nodes": 3,
        "duration": 7200,
        "resources": resources | {"use_spot": True},
        "total_cost": 120.5,
    } | changes


def test_skypilot_counts_nodes_and_its_costs_are_estimates():
    without = cluster(resources={"cloud": "AWS", "accelerators": None}, total_cost=0.25)
    usage = read(json.dumps([cluster(), without], indent=1).encode(), month="2025-05")
    [line] = usage.lines("month", "option")
    assert line.group == {"month": "2025-05", "option": "spot"}
    assert (line.instance_hours, line.accelerator_hours) == (6.0, 48.0)
    assert (line.billed["USD"], line.amortised["USD"]) == (None, Decimal("120.5"))
    assert sum(one.amortised.known for one in usage.ledger.charges.values()) == Decimal("120.75")


def test_skypilot_without_a_month_is_undated():
    assert hours_by(read(json.dumps([cluster()]).encode()).ledger, "month") == {"undated": 48.0}


def test_weights_and_biases_is_one_run_of_its_accelerators():
    rows = [
        {
            "_runtime": n * 60,
            "_timestamp": START + n * 60,
            "system.gpu.0.gpu": "" if n % 2 else 90,
            "system.gpu.1.gpu": "" if n % 2 else 80,
        }
        for n in range(31)
    ]
    usage = read(table(rows))
    assert hours_by(usage.ledger, "accelerator") == {"": 1.0}
    assert reasons(usage) == {"accelerator_use": 16, "unknown_sample": 15}

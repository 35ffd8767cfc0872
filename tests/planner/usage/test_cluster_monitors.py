"""Prometheus over DCGM, and OpenCost."""

from __future__ import annotations

import json

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read, reasons, unused_hours


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

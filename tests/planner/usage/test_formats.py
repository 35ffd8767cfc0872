"""Tables in Parquet and of one's own, readings of monitors, and that no row is lost."""

import io
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from planner.usage import tables
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import (
    azure_row,
    cur_row,
    focus_row,
    gcp_row,
    hours_by,
    json_lines,
    read,
    reasons,
    table,
    unused_hours,
)

ROWS = [
    {"month": "2025-05", "accelerator_hours": 100.0, "cost": Decimal("250.50"), "currency": "EUR",
     "accelerator": "H100", "project": "chat"},
    {"month": "2025-06", "accelerator_hours": 50.0, "cost": None, "currency": "EUR",
     "accelerator": "H100", "project": "chat"},
]  # fmt: skip


def written(rows, **options):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


@pytest.mark.parametrize("compression", ["snappy", "gzip", "none"])
def test_its_rows_are_read_as_those_of_a_table(compression):
    usage = read(written(ROWS, compression=compression))
    first, second = usage.lines("month")
    assert (first.accelerator_hours, first.billed["EUR"]) == (100.0, Decimal("250.50"))
    assert (second.accelerator_hours, second.billed["EUR"]) == (50.0, None)


def test_a_bill_of_many_batches_adds_up(monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    rows = [ROWS[0] | {"project": f"p{number % 4}"} for number in range(10)]
    assert hours_by(read(written(rows, row_group_size=4)).ledger, "project") == {
        "p0": 300.0, "p1": 300.0, "p2": 200.0, "p3": 200.0,
    }  # fmt: skip


LAST = {"UsageStartDate": "2025-05-31T23:00:00Z", "UsageEndDate": "2025-06-01T00:00:00Z"}
FOCUS_LAST = {"ChargePeriodStart": LAST["UsageStartDate"], "ChargePeriodEnd": LAST["UsageEndDate"]}
GCP_LAST = {"usage_start_time": "2025-05-31 23:00:00 UTC",
            "usage_end_time": "2025-06-01 00:00:00 UTC"}  # fmt: skip


@pytest.mark.parametrize(
    "bill",
    [
        table([cur_row(1, **LAST)]),
        table([focus_row(**FOCUS_LAST, x_UsageType="BoxUsage:p5.48xlarge")]),
        table([azure_row(Date="05/31/2025")]),
        json_lines([gcp_row(**GCP_LAST)]),
    ],
    ids=["aws", "focus", "azure", "gcp"],
)
def test_the_last_hour_of_a_month_is_billed_in_that_month(bill):
    ledger = read(bill).ledger
    assert {*hours_by(ledger, "month")} == {key.month for key in ledger.charges} == {"2025-05"}


@pytest.mark.parametrize("cut", [8, 40, -3])
def test_a_damaged_file_is_refused(cut):
    with pytest.raises(InvalidInput, match="damaged Parquet"):
        read(written(ROWS)[:cut])


@pytest.mark.parametrize(
    ("name", "most", "problem"),
    [
        ("MAX_METADATA", 100, "describes itself in"),
        ("MAX_COLUMNS", 5, "has 6 columns; allowed are 5"),
        ("MAX_BATCH_TEXT", 10, "has 2 rows with texts of 36 bytes; allowed are 10"),
    ],
)
def test_more_than_may_be_held_is_refused(name, most, problem, monkeypatch):
    monkeypatch.setattr(tables, name, most)
    with pytest.raises(InvalidInput, match=problem):
        read(written(ROWS))


def test_a_small_file_that_unpacks_to_a_large_one_is_refused():
    content = written([ROWS[0] | {"project": "9" * 20_000_000}], compression="zstd")
    assert len(content) < 20_000
    with pytest.raises(InvalidInput, match="as those of no bill do"):
        read(content)


def repeated(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


def nested(text, rows):
    places = pa.array(range(rows + 1), pa.int32())
    return pa.MapArray.from_arrays(places, repeated("team", rows), repeated(text, rows))


def packed(**columns):
    """A file of some thousand bytes whose rows would hold gigabytes."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd", write_statistics=False)
    assert len(out.getvalue()) < 10_000
    return out.getvalue()


def test_long_texts_are_not_written_out_for_each_row():
    rows = tables.BATCH_ROWS
    for column in (nested, repeated):
        content = packed(month=repeated("2025-05", rows), tags=column("x" * 2_000_000, rows))
        with pytest.raises(InvalidInput, match=r"has 500 rows with texts of 1,000,[\d,]+ bytes"):
            read(content)


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


def test_hours_of_machines_are_multiplied_and_unknown_machines_named():
    row = {"month": "2025-05", "instance_hours": "10", "provider": "aws"}
    usage = read(table([row | {"instance_type": name} for name in ("p5.48xlarge", "rig")]))
    assert hours_by(usage.ledger, "machine") == {"p5.48xlarge": 80.0}
    assert "how many accelerators rig has is not known" in usage.ledger.not_understood[0]


@pytest.mark.parametrize("ends", [{"End time": "2025-06-01 00:30:00"}, {"Runtime": "5400"}])
def test_a_row_may_be_a_job(ends):
    row = {"Created": "2025-05-31T23:00:00Z", "gpu_count": 8, "GPU type": "H100", "Lab": "a"}
    ledger = read(table([row | ends])).ledger
    assert hours_by(ledger, "month") == {"2025-05": 8.0, "2025-06": 4.0}
    assert ledger.hourly.peaks()["2025-05", "nvidia-h100-80gb-sxm"] == 8
    [jobs] = ledger.jobs.values()
    assert (jobs.typical_size, jobs.job_hours) == (8, 1.5)
    assert "end: is missing" in read(table([row])).ledger.not_understood[0]


def test_columns_by_other_names_are_read_and_noted():
    rows = table([{"Month": "05/2025", "GPU hours": "1.250,5", "Kosten": "3.000,00", "x": 1}], ";")
    usage = read(rows)
    assert hours_by(usage.ledger, "month") == {"2025-05": 1250.5}
    assert usage.notes()[:2] == [
        "Columns that are read by another name: Month as month, GPU hours as accelerator_hours, "
        "Kosten as cost.",
        "Columns that are not read: x.",
    ]
    named = read(table([{"when": "2025-05", "hours": 2}]), mapping={"when": "month"})
    assert hours_by(named.ledger, "month") == {"2025-05": 2.0}


COSTS = {"DimensionValueAttributes": [{"Value": "41", "Attributes": {"description": "acme"}}],
         "ResultsByTime": [{"TimePeriod": {"Start": "2025-05-01"}, "Groups": [
             {"Keys": ["41", "p5.48xlarge"],
              "Metrics": {"UsageQuantity": {"Amount": "10"}}}]}]}  # fmt: skip
FINISHED = {"phase": "Succeeded", "startTime": "2025-05-01T00:00:00Z", "containerStatuses": [
    {"state": {"terminated": {"finishedAt": "2025-05-01T05:00:00Z"}}}]}  # fmt: skip
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "acme"}, "status": FINISHED,
       "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}  # fmt: skip
END = {"type": "Failed", "status": "True", "lastTransitionTime": "2025-05-01T05:00:00Z"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "acme"},
       "status": {"startTime": FINISHED["startTime"], "conditions": [END]},
       "spec": {"template": {"spec": POD["spec"]}}}  # fmt: skip
DCGM = """timestamp,gpu,modelName,exported_namespace,exported_pod,DCGM_FI_DEV_GPU_UTIL
2025-05-01T00:00:00Z,0,NVIDIA L40S,,,0
2025-05-01T01:00:00Z,0,NVIDIA L40S,acme,train,90
2025-05-01T02:00:00Z,0,NVIDIA L40S,acme,train,0
2025-05-01T03:00:00Z,0,NVIDIA L40S,,,0
"""


@pytest.mark.parametrize(
    ("content", "hours"),
    [
        ("team;month;gpu hours\nacme;2025-05;2\u202f334,5\nacme;2025-06;1'000\n", 3334.5),
        ("Equipo\tMes\tHoras GPU\nacme\t2025-05\t1.400\nacme\t2025-06\t1.500,5\n", 2900.5),
        ('team,month,gpu hours\nacme,2025-05,"1,200.5"\nTotal,,"1,200.5"\n', 1200.5),
        ('team,start,end,gpus\nacme,"05/13/2025, 10:00 AM","05/13/2025, 07:00 PM",2\n', 18.0),
        ("Mese,Progetto,A100-80GB hours,H100 hours\n01/2025,acme,100,200\n", 300.0),
        (json.dumps(COSTS), 80.0),
        (json.dumps(POD), 20.0),
        (json.dumps(JOB), 20.0),
        (DCGM, 2.0),
    ],
)
def test_files_are_read_as_people_and_tools_write_them(content, hours):
    usage = read(content.encode())
    assert hours_by(usage.ledger, "project") == {"acme": hours}
    assert not usage.ledger.not_understood


def test_subtotals_beside_their_parts_are_refused():
    rows = [{"month": "2025-05", "hours": 2, "group": name} for name in ("all", "vision", "llm")]
    with pytest.raises(InvalidInput, match=r"column group: holds subtotals .* count twice"):
        read(table(rows))
    assert hours_by(read(table(rows[1:])).ledger, "month") == {"2025-05": 4.0}


def test_the_csv_of_a_plan_is_no_bill():
    """Its lines are those of every scenario, so their sum is several times the plan."""
    line = {"scenario": "spot", "month": "2027-01", "category": "compute", "amount": 5}
    own = table([{**line, "offer_id": "aws:x", "price_source": "list"}])
    with pytest.raises(InvalidInput, match="rows are planned"):
        read(own, mapping={"amount": "cost"})


def workbook(*rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_workbook_is_read_as_its_first_sheet():
    rows = (
        ["GPU hours 2025"],
        ["month", "accelerator_hours", "cost"],
        ["2025-05", 12.5, 99.95],
        [],
        ["2025-06", 2, 1],
    )
    usage = read(workbook(*rows))
    assert hours_by(usage.ledger, "month") == {"2025-05": 12.5, "2025-06": 2.0}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"month": "May", "accelerator_hours": "1"}, "'May' is not a month"),
        ({"month": "2025-05", "accelerator_hours": "-1"}, "is less than 0"),
        ({"month": "2025-05", "accelerator_hours": "=A1"}, "'=A1' is not a number"),
    ],
)
def test_rows_that_are_not_understood_are_named(row, problem):
    assert problem in read(table([row])).ledger.not_understood[0]


# Rows that are not understood: their money is in the sums of all rows, their number and the ---
BOX = "BoxUsage:p5.48xlarge"
OWN = {"month": "2025-05", "accelerator_hours": "8", "cost": "80", "currency": "USD"}
BILLS = {
    "FOCUS, unit": table([focus_row(x_UsageType=BOX, ConsumedUnit="GB"), focus_row()]),
    "FOCUS, category": table([focus_row(ChargeCategory="Riddle"), focus_row()]),
    "FOCUS, quantity": table([focus_row(ConsumedQuantity="many"), focus_row()]),
    "AWS, type": table([cur_row(1, line_item_type="Riddle"), cur_row(2)]),
    "AWS, unit": table([cur_row(1) | {"pricing/unit": "GB"}, cur_row(2)]),
    "Azure, type": table([azure_row(ChargeType="Riddle"), azure_row()]),
    "Azure, quantity": table([azure_row(Quantity="many"), azure_row()]),
    "Google, type": json_lines([gcp_row(cost_type="riddle"), gcp_row()]),
    "own table, hours": table([OWN | {"accelerator_hours": "-1"}, OWN]),
}
BILLED = {"FOCUS": 20, "AWS": 120, "Azure": 192, "Google": 160, "own table": 160}


@pytest.mark.parametrize("name", BILLS)
def test_the_money_of_a_row_that_is_not_understood_is_in_the_sum_of_all_rows(name):
    usage = read(BILLS[name])
    [total] = usage.totals()
    assert float(total["billed"]) == BILLED[name.partition(",")[0]]
    [warning] = usage.warnings()
    assert warning.startswith("1 of 2 rows are not understood, and their hours are in no sum")
    assert "(1 are read, 0 repeat others). Their costs are in the sums of all rows." in warning
    figures = usage.as_dict()
    assert (figures["row_count"], list(figures["problems"].values())) == (2, [1])


PERIODS = {
    "FOCUS": table([focus_row(x_UsageType=BOX, ChargePeriodEnd="2025-05-05T00:00:00Z")]),
    "AWS": table([cur_row(1, usage_end_date="2025-05-05T00:00:00Z")]),
    "Google": json_lines([gcp_row(usage_end_time="2025-05-05 00:00:00 UTC")]),
}


@pytest.mark.parametrize("name", PERIODS)
def test_a_row_that_ends_before_it_starts_is_not_understood(name):
    usage = read(PERIODS[name])
    assert not usage.ledger.uses
    assert "is before the start of the row's period" in usage.ledger.not_understood[0]
    assert float(usage.totals()[0]["billed"]) > 0


def test_a_cost_that_cannot_be_read_is_said_to_be_missing():
    rows = [focus_row(BilledCost="riddle"), focus_row(ChargePeriodStart="?"), focus_row()]
    usage = read(table(rows))
    assert usage.totals()[0]["billed"] == "10"
    [warning] = usage.warnings()
    assert "The cost of 2 of them cannot be read either and is missing from the sums" in warning

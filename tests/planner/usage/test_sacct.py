"""Accounting of Slurm: allocations, not steps; accelerators once; months in proportion."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.usage.formats.sacct import elapsed_seconds, read_tres, split_by_month
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read, reasons, sacct


def test_typed_and_untyped_accelerators_are_the_same_ones():
    assert hours_by(read(sacct({})).ledger, "accelerator") == {"nvidia-h100-80gb-sxm": 8.0}


@pytest.mark.parametrize(
    ("tres", "hours"),
    [
        ("cpu=1,gres/gpu=2", {"": 4.0}),
        ("cpu=1,gres/gpu:a100=2", {"a100": 4.0}),
        ("gres/gpu:a100=3,gres/gpu:l40s=1,gres/gpu=4", {"a100": 6.0, "nvidia-l40s": 2.0}),
        ("gres/gpu:h200=1,gres/gpu=4", {"nvidia-h200-141gb-sxm": 2.0, "": 6.0}),
        ("gres/gpu:a100_1g.5gb=2,gres/gpu=2", {"a100_1g.5gb": 4.0}),
    ],
)
def test_accelerators_of_an_allocation(tres, hours):
    assert hours_by(read(sacct({"AllocTRES": tres})).ledger, "accelerator") == hours


@pytest.mark.parametrize("job", ["1.batch", "1.extern", "1.0", "7_3.0"])
def test_steps_are_not_counted(job):
    assert reasons(read(sacct({}, {"JobID": job, "JobIDRaw": job}))) == {
        "accelerator_use": 1,
        "job_step": 1,
    }


def test_a_running_job_counts_up_to_the_query():
    usage = read(sacct({"State": "RUNNING", "End": "Unknown", "ElapsedRaw": "3600"}))
    assert hours_by(usage.ledger, "state") == {"RUNNING": 4.0}
    assert any("still run" in note for note in usage.notes())


def test_both_runs_of_a_requeued_job_count_and_a_repeated_row_once():
    first = {"State": "NODE_FAIL"}
    second = {
        "Submit": "2025-05-06T10:01:00",
        "Start": "2025-05-06T11:00:00",
        "End": "2025-05-06T13:00:00",
    }
    usage = read(sacct(first, second), sacct(second))
    assert hours_by(usage.ledger, "state") == {"NODE_FAIL": 8.0, "COMPLETED": 8.0}
    assert reasons(usage)["duplicate"] == 1


def test_hours_are_elapsed_and_months_in_proportion_to_wall_time():
    row = {"Start": "2025-05-31T22:00:00", "End": "2025-06-01T06:00:00"}
    row["ElapsedRaw"] = "14400"  # suspended for half of its eight hours
    assert hours_by(read(sacct(row)).ledger, "month") == {"2025-05": 4.0, "2025-06": 12.0}


@pytest.mark.parametrize("column", [b"Elapsed", b"Comment"])
def test_elapsed_or_start_and_end_are_read_where_there_are_no_seconds(column):
    usage = read(
        b"JobID|State|Start|End|" + column + b"|ReqTRES\n"
        b"5|COMPLETED|2025-05-06T08:00:00|2025-05-07T09:30:00|1-01:30:00|gres/gpu=2\n"
        b"6|COMPLETED|2025-05-06T08:00:00|2025-05-06T08:10:30|10:30|gres/gpu=6\n"
    )
    assert usage.is_complete
    assert hours_by(usage.ledger, "month") == {"2025-05": 51.0 + 6 * 10.5 / 60}


def test_a_log_without_a_header_is_read_where_users_tell_accounts_and_refused_else():
    jobs = [{"JobID": f"{n}", "JobIDRaw": f"{n}", "User": f"u{n % 4}", "Account": f"lab{n % 2}",
             "AllocTRES": f"cpu=8,gres/gpu={1 + n % 2}"} for n in range(12)]  # fmt: skip
    usage = read(sacct(*jobs, header=False))
    assert hours_by(usage.ledger, "account") == {"lab0": 12.0, "lab1": 24.0}
    assert "column 4 (lab0) is read as Account" in usage.notes()[0]
    with pytest.raises(InvalidInput, match=r"header: is missing; run: sacct -a -X -P"):
        read(sacct({}, header=False))
    with pytest.raises(InvalidInput, match=r"column alloctres: is missing; run: sacct -a -X -P"):
        read(b"JobID|State|Start|End|Elapsed\n1|COMPLETED|x|y|00:10:00\n")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"State": "DONE"}, "State: 'DONE' is no state of a job"),
        ({"ElapsedRaw": "1e9"}, "ElapsedRaw: '1e9' is no number of seconds"),
        ({"Start": "yesterday"}, "Start: 'yesterday' is not a moment"),
        ({"End": "2025-05-06T07:59:59"}, "is before the start"),
        ({"ElapsedRaw": "720000"}, "ElapsedRaw: 720000 s is longer than from Start to End, 7200 s"),
        ({"ElapsedRaw": "14401"}, "ElapsedRaw: 14401 s is longer than from Start to End"),
        ({"AllocTRES": "gres/gpu=many"}, "AllocTRES: 'gres/gpu=many' is no number"),
    ],
)
def test_rows_that_are_not_understood_are_named(changes, problem):
    usage = read(sacct({}, {**changes, "JobID": "2", "JobIDRaw": "2"}))
    assert problem in usage.ledger.not_understood[0]
    assert usage.ledger.not_understood[0].startswith("row 3:")


@pytest.mark.parametrize(("elapsed_s", "is_noted"), [(10_860, False), (10_861, True)])
def test_a_job_is_longer_than_its_clock_by_an_hour_that_is_set_back(elapsed_s, is_noted):
    usage = read(sacct({"ElapsedRaw": str(elapsed_s)}))
    assert reasons(usage) == {"accelerator_use": 1}
    assert any("longer than from Start to End" in note for note in usage.notes()) is is_noted


def test_more_accelerators_than_there_are_are_doubtful():
    usage = read(sacct({"AllocTRES": "gres/gpu=100001"}))
    (warning,) = usage.warnings()
    assert "1 row with more use than machines could give" in warning
    assert "with 200,002 accelerator-hours in 2.00 h" in warning
    assert read(sacct({"AllocTRES": "gres/gpu=100000"})).warnings() == []


def test_jobs_side_by_side_make_the_peak():
    rows = [{"JobID": str(n), "JobIDRaw": str(n)} for n in range(1, 4)]
    usage = read(sacct(*rows))
    assert usage.month_rows()[0]["peak_accelerators"] == 12.0


@given(st.integers(0, 2_000_000_000), st.integers(0, 40_000_000))
def test_the_shares_of_the_months_are_the_whole(start, length):
    shares = split_by_month(float(start), float(start + length))
    assert sum(share for _, share in shares) == pytest.approx(1.0)
    assert [month for month, _ in shares] == sorted({month for month, _ in shares})


@given(st.text(max_size=60))
def test_any_text_is_a_time_or_refused(text):
    with suppress(InvalidInput):
        assert elapsed_seconds(text) >= 0
    with suppress(InvalidInput):
        assert all(count > 0 for _, count in read_tres(text))

"""Several files of one bill: the same file, the same rows, the same month."""

from decimal import Decimal

import pytest

from planner.usage import ledger as overlaps
from tests.planner.usage.make import (
    azure_row,
    cur_row,
    focus_row,
    gcp_row,
    hours_by,
    json_lines,
    read,
    reasons,
    sacct,
    table,
)

H100 = "BoxUsage:p5.48xlarge"


def focus_of(*days, **changes):
    """An hour of a machine of eight on each of these days."""
    return table(
        focus_row(
            x_UsageType=H100,
            ChargePeriodStart=f"2025-05-{day:02d}T00:00:00Z",
            ChargePeriodEnd=f"2025-05-{day:02d}T01:00:00Z",
            **changes,
        )
        for day in days
    )


def azure_of(*days):
    return table(azure_row(Date=f"05/{day:02d}/2025") for day in days)


def google_of(*days, **changes):
    moments = {name: f"2025-05-{{:02d}} 0{n}:00:00 UTC" for n, name in enumerate(TIMES)}
    rows = [{name: text.format(day) for name, text in moments.items()} for day in days]
    return json_lines(gcp_row(**row, **changes) for row in rows)


TIMES = ("usage_start_time", "usage_end_time")
OWN = b"month,accelerator_hours,cost,currency\n2025-05,100,50,USD\n"
FILES = {
    "focus": focus_of(1, 2),
    "azure": azure_of(1, 2),
    "google": google_of(1, 2),
    "cur": table([cur_row(1), cur_row(2)]),
    "sacct": sacct({}),
    "own table": OWN,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_twice_counts_once_and_is_named(name):
    once, twice = read(FILES[name]), read(FILES[name], FILES[name])
    assert hours_by(twice.ledger, "month") == hours_by(once.ledger, "month")
    assert twice.totals() == once.totals()
    assert [file.rows for file in twice.files] == [once.files[0].rows] * 2
    assert reasons(twice) == reasons(once) | {"duplicate": once.files[0].rows}
    assert "file 2 is the same file as file 1, to the byte, and counts once." in twice.notes()


@pytest.mark.parametrize("make_file", [focus_of, azure_of, google_of])
def test_rows_that_two_exports_hold_count_once_and_are_named(make_file):
    first, second, whole = make_file(1, 2, 3), make_file(2, 3, 4, 5), make_file(1, 2, 3, 4, 5)
    usage = read(first, second)
    assert hours_by(usage.ledger, "month") == hours_by(read(whole).ledger, "month")
    assert usage.totals() == read(whole).totals()
    assert reasons(usage)["duplicate"] == 2
    [note] = [one for one in usage.notes() if one.startswith("file 2: 2 rows from row ")]
    assert note.endswith("are rows of file 1 to the letter and count once.")


def test_an_export_that_was_made_again_with_other_columns_in_another_order_counts_once():
    rows = [focus_row(x_UsageType=H100, InvoiceId=number) for number in ("", "INV-1")]
    header = list(reversed(rows[1]))
    usage = read(table([rows[0]]), table([{name: rows[1][name] for name in header}]))
    assert hours_by(usage.ledger, "month") == {"2025-05": 8.0}
    later = [google_of(1, export_time=f"2025-06-0{day} 00:00:00 UTC") for day in (1, 2)]
    assert hours_by(read(*later).ledger, "month") == {"2025-05": 8.0}


def test_a_month_of_a_provider_in_several_files_is_named():
    usage = read(focus_of(1), focus_of(1, BilledCost="11"), azure_of(1))
    assert usage.totals()[-1]["billed"] == str(Decimal(21))
    [note] = [one for one in usage.notes() if "is in file" in one]
    assert note.startswith("2025-05 of aws is in file 1, file 2: parts of one bill add up;")
    assert not any("is in file" in one for one in read(focus_of(1), azure_of(1)).notes())


def test_rows_beyond_what_is_compared_are_said_to_be(monkeypatch):
    monkeypatch.setattr(overlaps, "MAX_COMPARED_ROWS", 2)
    usage = read(focus_of(1, 2, 3), focus_of(2, 3))
    assert hours_by(usage.ledger, "month") == {"2025-05": 32.0}
    assert any("beyond the first 2 were not compared" in one for one in usage.notes())


def test_a_bill_of_aws_without_identifiers_is_compared_row_by_row():
    def bill(*days):
        rows = [cur_row(0, usage_start_date=f"2025-05-{day:02d}T00:00:00Z") for day in days]
        return table({name: row[name] for name in row if "LineItemId" not in name} for row in rows)

    usage = read(bill(1, 1, 2), bill(2, 3))
    assert hours_by(usage.ledger, "month") == {"2025-05": 32.0}
    assert reasons(usage)["duplicate"] == 1


def test_a_job_that_ran_on_after_a_log_counts_once_as_long_as_it_ran():
    running = sacct({"State": "RUNNING", "End": "Unknown", "ElapsedRaw": "3600"})
    ended = sacct({"ElapsedRaw": "7200"})
    usage = read(running, ended)
    assert hours_by(usage.ledger, "state") == {"RUNNING": 4.0, "COMPLETED": 4.0}
    assert reasons(usage) == {"accelerator_use": 1, "duplicate": 1}
    assert any("still ran in one log and are in a later one" in one for one in usage.notes())
    assert hours_by(read(ended, running).ledger, "state") == {"COMPLETED": 8.0}
    longer = sacct({"State": "RUNNING", "End": "Unknown", "ElapsedRaw": "5400"})
    assert sum(hours_by(read(running, longer, ended).ledger, "state").values()) == 8.0

"""A bill or a log on the page: preview, columns to agree to, and the plan that starts from it."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.planner.usage.make import cur_row, sacct, table
from tests.planner.web.team.texts import text

MONTHS = [
    cur_row(
        month,
        usage_amount="730",
        usage_start_date=f"2025-{month:02d}-01T00:00:00Z",
        usage_end_date=f"2025-{month + 1:02d}-01T00:00:00Z",
    )
    for month in range(1, 8)
]


def send(client, content: bytes | None, **fields: object):
    file = {} if content is None else {"file": SimpleUploadedFile("usage.csv", content)}
    return client.post("/usage/", file | fields)


def plan_link(page: str) -> str:
    return html.unescape(re.search(r'href="(/plan/\?[^"]+)"[^>]*>Plan on this', page)[1])


def test_the_plan_form_opens_with_the_demand(client, work):
    page = text(send(client, table(MONTHS), months="3", start="2025-08"))
    months = re.findall(r'<th scope="row" class="fw-normal">(\w+ 2025)</th>', page)
    assert months[-3:] == ["August 2025", "September 2025", "October 2025"]
    link = plan_link(page)
    query = parse_qs(urlsplit(link).query)
    assert query["workload.accelerator"] == ["nvidia-h100-80gb-sxm"]
    assert query["workload.hours_per_month"] == ["5840"]
    assert query["workload.peak_accelerators"] == ["8"]
    assert query["horizon_months"] == ["3"]
    assert "5840" in text(client.get(link))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("content", "fields", "words"),
    [
        (None, {}, "choose a bill or a log"),
        (b"", {}, "is empty"),
        (b"PAR1", {}, "is damaged Parquet"),
        (sacct({}), {"start": "soon"}, "is not a month like 2027-01"),
        (sacct({}), {"accelerator": "T4"}, "was not used"),
        (sacct({}), {"months": "-1"}, "greater than or equal to 0"),
    ],
)
def test_a_refusal_stands_beside_its_field(client, db, content, fields, words):
    answer = send(client, content, **fields)
    assert answer.status_code == 400
    assert words in text(answer)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"month,cost\n2026-01,\x81\n", "usage.csv, line 2: is not UTF-8 text near here"),
        (b"PAR1", "usage.csv: is damaged Parquet"),
    ],
)
def test_what_refuses_a_file_names_it_beside_the_box(client, db, content, words):
    answer = send(client, content)
    beside = answer.content.decode().partition('id="usage-file_error"')[2].partition("</div>")[0]
    assert answer.status_code == 400
    assert words in html.unescape(beside)


def test_a_job_file_opens_in_the_plan_form(client, work):
    script = b"#SBATCH --nodes=2 --gres=gpu:h100:8 --time=10:00:00\n"
    page = text(send(client, script))
    assert "Slurm script" in page
    query = parse_qs(urlsplit(plan_link(page)).query)
    assert query["workload.hours_per_month"] == ["160.0"]
    assert query["workload.peak_accelerators"] == ["16"]
    assert text(client.get(plan_link(page)))


def test_several_bills_are_added_up(client, db):
    bills = [SimpleUploadedFile(f"{n}.csv", table([row])) for n, row in enumerate(MONTHS)]
    page = text(client.post("/usage/", {"file": bills, "months": "0"}))
    assert page.count("5,840.00") == len(MONTHS)
    twice = [SimpleUploadedFile(f"{n}.csv", table(MONTHS[:1])) for n in range(2)]
    page = text(client.post("/usage/", {"file": twice, "months": "0"}))
    assert page.count("5,840.00") == 1
    assert "the same row again: counted once" in page


def plain(page: str) -> str:
    """The words of the page without tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_rows_add_up_and_a_warning_says_what_is_missing(client, db):
    riddle = cur_row(8, line_item_type="Riddle")
    page = plain(text(send(client, table([*MONTHS, riddle, riddle]), months="0")))
    assert f"All rows {len(MONTHS) + 2}" in page
    assert "1 of 9 rows are not understood, and their hours are in no sum (7 are read, 1" in page
    assert "1 × lineItem/LineItemType: 'Riddle' is unknown" in html.unescape(page)

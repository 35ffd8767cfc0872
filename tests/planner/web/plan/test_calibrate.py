"""An nvidia-smi log, what it says and how it gets into a plan."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.planner.web.team.texts import text

NAME = "NVIDIA H100 80GB HBM3"
LOG = "index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n" + "".join(
    f"{gpu}, {NAME}, {use} %, 30000 MiB, 81559 MiB\n" for gpu in (0, 1) for use in (0, 90, 92, 94)
)


def send(client, content: bytes):
    return client.post("/usage/", {"log": SimpleUploadedFile("smi.csv", content)})


def test_the_page_opens_without_an_account(client, db):
    assert "nvidia-smi --query-gpu" in text(client.get("/usage/"))


def test_each_gpu_of_the_log_is_shown(client, db):
    page = text(send(client, LOG.encode()))
    assert page.count(NAME) >= 2
    assert "75%" in page  # three of four samples were not idle
    assert "29.3 of 79.6 GiB" in page


def test_what_it_changes_is_told(client, db):
    assert "smaller cards" in text(send(client, LOG.encode()))


def test_the_clock_stands_beside_the_sustained_one(client, db):
    log = f"index, name, utilization.gpu [%], clocks.sm [MHz]\n0, {NAME}, 99 %, 1200 MHz\n"
    page = text(send(client, log.encode()))
    assert "1,200 MHz (sustained 1,590)" in page
    assert "below 90% of its sustained clock of 1,590 MHz" in page


def links(page: str) -> list[dict[str, list[str]]]:
    found = [part.split('"')[0] for part in page.split('href="')[1:]]
    return [parse_qs(urlsplit(a).query) for a in found if a.startswith("/plan/?workload")]


def test_the_measured_share_is_carried_into_the_plan_form(client, db):
    hours, goodput, ceiling = links(text(send(client, LOG.encode())))
    assert hours["workload.hours_per_month"] == ["1095"]  # 2 × 730 h × 75 %
    assert goodput["workload.goodput~pct"] == ["75.0"]
    assert ceiling["on_prem.utilisation_ceiling~pct"] == ["75.0"]
    assert hours["workload.accelerator"] == ["nvidia-h100-80gb-sxm"]


def test_the_plan_form_takes_what_is_carried(client, work):
    page = text(send(client, LOG.encode()))
    address = next(p.split('"')[0] for p in page.split('href="')[1:] if "hours_per_month" in p)
    assert "1095" in text(client.get(address.partition("#")[0]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\xff\xfe\x00", "is neither UTF-8 nor UTF-16 text"),
        (b"a,b\n1,2\n", "utilization.gpu"),
    ],
)
def test_another_file_is_refused_beside_its_box(client, db, content, words):
    answer = send(client, content)
    assert answer.status_code == 400
    assert words in text(answer)


def test_a_log_that_is_too_large_is_refused(client, db, monkeypatch):
    monkeypatch.setattr("planner.web.plan.usage.MAX_LOG_BYTES", 10)
    assert "at most" in text(send(client, LOG.encode()))


def test_no_file_is_refused(client, db):
    assert client.post("/usage/", {}).status_code == 400


def test_unknown_hardware_carries_nothing(client, db):
    page = text(send(client, LOG.replace(NAME, "Some Card").encode()))
    assert "there is nothing to carry over" in page


def test_it_is_closed_where_sign_in_is_required(client, db, settings):
    settings.LOGIN_REQUIRED = True
    assert client.get("/usage/").status_code == 302


def test_what_a_log_says_stands_before_the_boxes_of_a_pilot(client, db):
    page = text(send(client, LOG.encode()))
    assert 'action="/usage/#results"' in page
    assert page.index('id="results"') < page.index('id="pilot"')

"""The rate of a pilot on the page Calibrate, and the plan priced with it."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from planner.sizing.calibration.pilot import calibrate_request
from tests.planner.web.team.texts import text

RUN = {
    "parameters": "7",
    "tokens": "100",
    "accelerator": "nvidia-h100-80gb-sxm",
    "accelerators": "8",
    "per_second": "72,000",
}
PLAN = {
    "workload.kind": "training",
    "workload.parameters~bn": "13",
    "workload.tokens~bn": "300",
    "workload.accelerator": "nvidia-h100-80gb-sxm",
    "workload.mfu~pct": "55",
    "horizon_months": "24",
}
SAMPLES = {
    "workload.kind": "samples",
    "workload.samples~mn": "1.28",
    "workload.epochs": "90",
    "workload.benchmark": "resnet50-lambda",
}


def send(client, plan=None, **changes):
    run = {name: value for name, value in (RUN | changes).items() if value is not None}
    return client.post(f"/usage/?{urlencode(plan or {})}", run)


def plan_link(answer) -> str:
    return re.search(r'href="([^"]*)">Price the plan with it', text(answer)).group(1)


def query(answer) -> dict[str, list[str]]:
    return parse_qs(urlsplit(plan_link(answer)).query)


def test_a_pilot_gives_its_mfu_and_a_narrower_range(client, db):
    answer = send(client)
    workload = {"kind": "training", "parameters": 7e9, "tokens": 1e11}
    pilot = {"workload": workload, "accelerator": RUN["accelerator"], "accelerators": 8}
    figures = calibrate_request({"pilot": {**pilot, "per_second": 72_000}}).pilot
    shown = " ".join(text(answer).split())
    assert f"an MFU of {figures.mfu * 100:.1f}" in shown
    for hours in (figures.estimated, figures.measured):
        for value in (hours.p10, hours.p50, hours.p90):
            assert f"{value:,.1f}</td>" in shown
    assert f"{figures.narrower:.1f} times narrower" in shown
    assert figures.narrower > 2


def test_the_link_opens_the_plan_with_the_measured_rate(client, work):
    answer = send(client)
    found = query(answer)
    assert found["workload.tokens_per_second_per_accelerator"] == ["9000"]
    assert found["workload.accelerator"] == ["nvidia-h100-80gb-sxm"]
    page = client.get(plan_link(answer).partition("#")[0])
    assert page.status_code == 200
    assert page.context["outcome"].answer is not None


def test_a_pilot_of_a_plan_keeps_the_plan_and_replaces_other_rates(client, db):
    answer = send(client, PLAN, parameters=None, tokens=None, per_second="32000")
    found = query(answer)
    assert found["workload.parameters~bn"] == ["13"]
    assert found["horizon_months"] == ["24"]
    assert found["workload.tokens_per_second_per_accelerator"] == ["4000"]
    assert "workload.mfu~pct" not in found


def test_a_pilot_of_samples_is_in_samples(client, db):
    answer = send(client, SAMPLES, parameters=None, tokens=None, per_second="20000")
    assert query(answer)["workload.samples_per_second"] == ["2500"]
    assert "an MFU of" not in text(answer)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"per_second": "0"}, "0 is not allowed; must be more than 0"),
        ({"per_second": "many"}, "is not a number"),
        ({"accelerators": "1.5"}, "1.5 is not a whole number"),
        ({"per_second": "9e9"}, "of one accelerator, 1,125,000,000 tokens/s would be"),
        ({"parameters": ""}, "“Model parameters” is empty; fill it in."),
    ],
)
def test_what_cannot_be_is_refused_beside_its_box(client, db, changes, words):
    answer = send(client, **changes)
    assert answer.status_code == 400
    assert words in text(answer)


def test_the_boxes_ask_only_for_what_the_plan_does_not_say(client, db):
    bare = text(client.get("/usage/"))
    of_plan = text(client.get(f"/usage/?{urlencode(PLAN)}"))
    assert 'name="parameters"' in bare
    assert 'name="parameters"' not in of_plan
    assert re.search(r'value="nvidia-h100-80gb-sxm"\s+selected', of_plan)


def test_what_the_rate_of_samples_holds_leaves_the_plan_with_it(client, work):
    plan = {**SAMPLES, "workload.forward_gflops_per_sample": "8.2", "workload.loader": "usual"}
    plan |= {"workload.architecture": "convolutional", "workload.code": "standard"}
    del plan["workload.benchmark"]
    left = query(send(client, plan, parameters=None, tokens=None, per_second="8,000"))
    assert left["workload.samples_per_second"] == ["1000"]
    assert not {"workload.loader", "workload.architecture", "workload.code"} & set(left)

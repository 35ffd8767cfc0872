"""Three interfaces, one answer: page, API and command give equal numbers for equal requests."""

import json
import os
import random
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from planner.commands.ask import COMPARE
from planner.web.common.query_codec import flatten
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import H100
from tests.planner.workspace import market

LENOVO = {
    "name": "Lenovo LP2225",
    "start": "2027-01",
    "horizon_months": 36,
    "use_catalog": False,
    "break_even": "all",
    "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
    "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 5840},
    "custom_offers": [
        {"label": "on demand", "accelerator": H100, "accelerator_count": 8,
         "purchase_option": "on_demand", "usd_per_hour": 98.32},
        {"label": "one year", "accelerator": H100, "accelerator_count": 8, "term_months": 12,
         "purchase_option": "reserved", "usd_per_hour": 77.43},
        {"label": "three years", "accelerator": H100, "accelerator_count": 8, "term_months": 36,
         "purchase_option": "reserved", "usd_per_hour": 53.95},
    ],
    "on_prem": {"servers": [{"server": "custom", "unit_price": 833806, "accelerator": H100,
                             "accelerator_count": 8, "running_cost_per_hour": 0.87}]},
}  # fmt: skip
"""Lenovo Press LP2225 (2025), configuration A against p5.48xlarge before June 2025."""


def by_api(client, request):
    response = client.post(
        f"{reverse('api:comparisons')}?include=all",
        json.dumps(request),
        content_type="application/json",
    )
    assert response.status_code == 200, response.content
    return response.json()


def by_command(request, tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    options = {"file": str(path), "json": True, "table": None}
    return json.loads(COMPARE.answer(options, catalog.current))


def by_page(client, request):
    response = client.get(f"{reverse('plan')}?{urlencode(flatten(request))}")
    assert response.status_code == 200, response.content
    return response


def numbers(answer):
    """Everything of an answer but what an interface may add."""
    return {
        "scenarios": answer["scenarios"],
        "break_even": answer["break_even"],
        "recommendation": answer["recommendation"],
        "demand": answer["demand"],
    }


def generated(seed: int):
    rng = random.Random(seed)
    request = {
        "start": "2027-01",
        "horizon_months": rng.randint(1, 24),
        "sensitivity": False,
        "cheaper_if": False,
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": H100,
            "hours_per_month": rng.choice([rng.randint(1, 20_000), rng.random() * 9000]),
        },
        "finance": {"discount_rate_per_year": round(rng.random() * 0.2, 4)},
        "on_prem": {
            "servers": [{"server": "dgx-h100", "unit_price": rng.randint(200_000, 500_000)}],
            "electricity_per_kwh": round(0.05 + rng.random() * 0.3, 4),
            "lead_time_months": rng.randint(0, 4),
        },
    }
    if rng.random() < 0.4:
        request["constraints"] = {"max_spot_share": round(rng.random(), 3)}
    if rng.random() < 0.3:
        request["price_adjustments"] = [
            {"provider": "aws", "multiplier": round(0.5 + rng.random() / 2, 3)}
        ]
    return request


@pytest.mark.django_db
def test_the_lenovo_case_has_its_published_break_even_through_all_interfaces(client, tmp_path):
    market()
    expected = [8556.24, 10890.88, 833806 / (53.95 - 0.87)]
    page = by_page(client, LENOVO)
    for answer in (
        by_api(client, LENOVO),
        by_command(LENOVO, tmp_path),
        page.context["page"].answer.to_json(),
    ):
        hours = [row["hours"] for row in answer["break_even"]]
        assert hours == pytest.approx(expected, rel=1e-3)
    assert b"8,556" in page.content


@pytest.mark.one_in(2)
@pytest.mark.fuzz
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(50 if os.environ.get("FUZZ") == "1" else 2))
def test_generated_requests_have_equal_numbers_through_all_interfaces(
    client, tmp_path, seed, settings
):
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
    market()
    request = generated(seed)
    api = numbers(by_api(client, request))
    page = by_page(client, request)
    assert api == numbers(by_command(request, tmp_path))
    assert api == numbers(json.loads(json.dumps(page.context["page"].answer.to_json())))
    best = page.context["page"].recommended
    assert f"{best.total_cost:,.0f}" in page.content.decode()


@pytest.mark.one_in(4)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"horizon_months": 200}, "horizon_months"),
        ({"name": "x" * 5000}, "name"),
        ({"constraints": {"regions": ["nowhere-1"]}}, "constraints.regions"),
        ({"currency": "XYZ"}, "currency"),
        ({"finance": {"discount_rate_per_year": 1.1}}, "finance.discount_rate_per_year"),
        ({"workload": {**LENOVO["workload"], "hours_per_month": -1}}, "workload.hours_per_month"),
        ({"workload": {**LENOVO["workload"], "accelerator": "X9"}}, "workload.accelerator"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_trap_18_every_interface_refuses_the_same(client, tmp_path, change, field):
    market()
    request = {**generated(1), **change}
    api = client.post(
        reverse("api:comparisons"), json.dumps(request), content_type="application/json"
    )
    assert api.status_code == 400
    assert any(error["field"].startswith(field) for error in api.json()["errors"])
    page = client.get(f"{reverse('plan')}?{urlencode(flatten(request))}")
    assert page.status_code == 400
    assert any(r.field.startswith(field) for r in page.context["outcome"].errors)
    with pytest.raises(InvalidInput) as refused:
        by_command(request, tmp_path)
    assert field in "\n".join(map(str, refused.value.all()))

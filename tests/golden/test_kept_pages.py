"""Every page keeps its words and figures: `kept_pages.json` holds the text of each, and of what a
form says when it is sent empty, filled in, and filled with what no box takes; `kept_parts.json`
holds what their links lead to, what their boxes hold and where their charts are drawn."""

import datetime as dt
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import transaction
from django.test import Client

from planner.models import Role
from pricing.models import QuarantinedPart
from tests.golden.kept import assert_kept
from tests.golden.page import parse, text
from tests.planner.api.world import World
from tests.planner.web.asking import HOURS, SERVING, TRAINING, WHOLE
from tests.planner.web.paper import read_paper
from tests.planner.web.team.pages import PAGES, Page
from tests.planner.workspace import market, person
from tests.pricing.make import offer

BEFORE = dt.date(2026, 9, 1)
NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
SERVERS = {"on_prem.servers.0.server": "dgx-h100", "on_prem.servers.0.max_units": "4"}
MARKET_FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"provider": "aws", "purchase_option": "reserved"},
    {"accelerator": "H100", "purchase_option": "spot"},
    {"accelerator": "nowhere"},
)
SOLD, GONE = "p5.48xlarge", "p5.4xlarge"
OPEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/", {}),
    ("/method/", {}),
    *(("/market/", one) for one in MARKET_FILTERS),
    ("/market/changes/", {}),
    ("/market/accelerator/nvidia-h100-80gb-sxm/", {}),
    ("/market/accelerator/nvidia-a100-80gb-sxm/", {}),
    ("/plan/", {}),
    ("/plan/", HOURS),
    ("/plan/", HOURS | WHOLE | SERVERS | {"horizon_months": "30", "finance.tax_rate~pct": "25"}),
    ("/plan/", HOURS | {"constraints.monthly_budget": "1000", "risk.samples": "200"}),
    ("/plan/", HOURS | {"workload.hours_per_month": "-1", "start": "soon"}),
    ("/plan/", TRAINING),
    ("/plan/live/", HOURS),
    ("/plan/accelerators/", TRAINING),
    ("/plan/", SERVING),
    ("/plan/pack/", HOURS | SERVERS | {"horizon_months": "30"}),
    ("/plan/pack/", TRAINING),
    ("/usage/", {}),
    ("/plan/", {"start": "2027-03", "horizon_months": "12"}),
    ("/market/offers.csv", {"accelerator": "H100"}),
    *(("/market/offer/", {"id": f"aws:us-east-1:{one}:on_demand"}) for one in (SOLD, GONE)),
)
ATTRIBUTES = (
    *("href", "action", "hx-get", "value", "checked", "selected", "title", "aria-label", "style"),
    *("d", "x", "y", "width", "height", "cx", "cy"),
)
read = lru_cache(1)(parse)  # for its words and for its links
FORMS = [page for page in PAGES if page.method == "post"]
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("kept_pages")]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """One world for all pages; what a form does is undone."""
    with time_machine.travel(NOW), django_db_blocker.unblock(), transaction.atomic():
        market("61.00", BEFORE, offer("6.88", instance_type=GONE, as_of=BEFORE))
        made = World()
        made.ids["quarantined"] = QuarantinedPart.objects.create(
            provider="aws", purchase_option="spot", reason="spot: odd", offer_count=1, digest="0",
            payload=b"",
        ).pk  # fmt: skip
        made.alpha.users["operator"] = person("operator", is_staff=True)
        yield made
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _still(settings: Any, monkeypatch: Any) -> Iterator[None]:
    settings.JOBS_BACKEND = "thread"
    monkeypatch.setattr("planner.services.jobs.price_refreshes.publish_parts", lambda held: None)
    with time_machine.travel(NOW + dt.timedelta(seconds=30)), transaction.atomic():
        yield
        transaction.set_rollback(True)


def browser(world: World, page: Page) -> Client:
    client = Client()
    client.force_login(world.alpha.users["operator" if page.need == "operator" else Role.OWNER])
    return client


def shown(answer: Any) -> Any:
    """Status and text."""
    if answer.status_code // 100 == 3:
        words = str(answer["Location"])
    elif "html" in answer["Content-Type"]:
        words = text(read(answer.content.decode()))
    elif answer["Content-Type"] == "application/pdf":
        words = read_paper(answer.content)[1]
    elif answer.streaming or not answer["Content-Type"].startswith(("text/", "application/json")):
        words = answer["Content-Type"]
    else:
        words = answer.content.decode()
    return [answer.status_code, *re.split(r"(?<=[.:?]) ", veil(words))]


def veil(words: str) -> str:
    """Without ids, secrets and days of use, which are not the same twice."""
    words = re.sub(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", "ID", words)
    words = re.sub(r"\b(gcp|inv)_[\w-]{4,}", "SECRET", words)
    words = re.sub(r"(\d\d:\d\d):\d\d(\.\d+\+00:00)?", r"\1", words)
    return re.sub(r"\buser:\d+|(?<=by id: nothing → )\d+", "PERSON", words)


def assert_page_kept(name: str, answer: Any) -> None:
    assert_kept("kept_pages.json", name, shown(answer))
    if "html" in answer.headers.get("Content-Type", ""):
        assert_kept("kept_parts.json", name, parts(answer))


def parts(answer: Any) -> list[list[str]]:
    """Links, boxes and shapes of a page, each with its first words, without the bars around it."""
    page = read(answer.content.decode())
    every = [one for main in page.findall(".//main") or [page] for one in main.iter()]
    told = [
        (one, [veil(in_order(one.attrib[name])) for name in ATTRIBUTES if name in one.attrib])
        for one in every
        if one.get("name") != "csrfmiddlewaretoken"
    ]
    return [[text(one)[:40], *values] for one, values in told if values]


def in_order(address: str) -> str:
    """An address with its fields in one order: databases keep those of a request in another."""
    path, mark, query = address.partition("?")
    fields, end, anchor = query.partition("#")
    return f"{path}{mark}{'&'.join(sorted(fields.split('&')))}{end}{anchor}"


@pytest.mark.parametrize("case", range(len(OPEN)), ids=lambda i: f"{i} {OPEN[i][0]}")
def test_open_pages_keep_their_text(case: int, client: Client, world: World) -> None:
    path, query = OPEN[case]
    address = f"{path}?{urlencode(query)}"
    assert_page_kept(f"{case} {path}", client.get(address))


@pytest.mark.parametrize("page", [p for p in PAGES if p.method == "get"], ids=str)
def test_pages_of_a_team_keep_their_text(page: Page, world: World) -> None:
    answer = browser(world, page).get(page.address(world))
    assert_page_kept(str(page), answer)


@pytest.mark.parametrize("filled", ["empty", "filled in", "filled with question marks"])
@pytest.mark.parametrize("page", FORMS, ids=str)
def test_forms_keep_what_they_answer(page: Page, filled: str, world: World) -> None:
    data = {} if filled == "empty" else page.data(world)
    if filled == "filled with question marks":
        data = dict.fromkeys(data, "?")
    answer = browser(world, page).post(page.address(world), data, follow=True)
    assert_page_kept(f"{page}, {filled}", answer)

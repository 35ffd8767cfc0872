import datetime as dt
import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.db import OperationalError
from django.utils import timezone

from pricing import discovery
from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.management.commands import refresh_prices
from pricing.market.offers import Offer
from pricing.models import QuarantinedPart, RefreshRun, Revision
from pricing.publish.refresh import RefreshResult
from tests.pricing.publish.fake_provider import FakeProvider, some_offers

pytestmark = pytest.mark.django_db


@pytest.fixture
def nimbus(monkeypatch):
    provider = FakeProvider()
    monkeypatch.setattr(discovery, "all_providers", lambda: {"nimbus": provider})
    return provider


def run(*arguments: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("refresh_prices", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    return out.getvalue(), 0


def test_it_says_what_was_published_and_what_changed(nimbus):
    run()
    nimbus.items = [replace(o, price_per_hour=o.price_per_hour * 2) for o in some_offers()]
    text, status = run("nimbus", "--force")
    assert status == 0
    assert "nimbus: published revision 2 of " in text
    assert "0 added, 0 gone, 12 dearer, 0 cheaper, 0 changed, 0 unchanged" in text
    assert "nimbus:region-0:h8.xlarge:on_demand: 40 → 80 USD/h (× 2)" in text


def test_it_says_which_rows_were_not_understood_with_counts(nimbus):
    nimbus.items.append(SkippedRow("unknown accelerator", "X9"))
    text, status = run()
    assert "not understood: unknown accelerator: 1 row (X9)" in text
    assert status == 0


def test_a_failure_says_what_stays_in_force_its_age_and_what_to_do(nimbus):
    run()
    nimbus.items = [ProviderUnavailable("nimbus", "the key was refused", "Set NIMBUS_KEY.")]
    text, status = run()
    assert "nimbus: failed: the key was refused. Set NIMBUS_KEY." in text
    assert re.search(
        r"in force: revision 1, read on (\d{4}-\d\d-\d\d), oldest price of \1, 0 days old", text
    )
    assert status == 1


def test_the_day_of_reading_and_that_of_the_oldest_price_are_two(nimbus):
    run()
    today = timezone.now().date()
    old = today - dt.timedelta(days=12)
    Revision.objects.update(oldest_price_as_of=old)
    nimbus.items = [ProviderUnavailable("nimbus", "the key was refused", "Set NIMBUS_KEY.")]
    text, _ = run()
    assert f"read on {today}, oldest price of {old}, 12 days old" in text
    told = json.loads(run("--json")[0])["providers"][0]["in_force"]
    assert (told["as_of"], told["oldest_price_as_of"]) == (str(today), str(old))


def doubled(family: str) -> list[Offer]:
    return [
        replace(o, price_per_hour=o.price_per_hour * 2) if o.instance_type[:2] == family else o
        for o in some_offers()
    ]


WORDS = "on demand of h8: 3 prices, × 2 of what is published"


def test_a_quarantined_part_says_why_and_how_to_release_it(nimbus):
    run()
    nimbus.items = doubled("h8")
    text, status = run()
    assert "nimbus: published revision 2" in text
    assert f"  quarantined: {WORDS}" in text
    assert "Release or reject it on the page /operator/, or refresh with --force" in text
    assert status == 3
    (told,) = json.loads(run("--json")[0])["providers"]
    assert (told["outcome"], told["quarantined"], told["message"]) == (
        "quarantined", [WORDS], WORDS
    )  # fmt: skip
    assert RefreshRun.objects.first().message == WORDS


def test_a_dry_run_that_would_quarantine_sends_nobody_to_look_for_it(nimbus):
    run()
    nimbus.items = doubled("h8")
    text, status = run("--dry-run")
    assert "nimbus: would quarantine: 12 offers" in text
    assert "Nothing was stored: without --dry-run these parts are quarantined" in text
    assert "/operator/" not in text
    assert (status, QuarantinedPart.objects.count()) == (3, 0)


def test_what_the_list_lacks_is_named(nimbus):
    run()
    nimbus.items = [one for one in some_offers() if one.instance_type[:2] != "h8"]
    text, status = run()
    assert re.search(r"warning: not in the list of \S+: on demand of h8 \(3 prices\)", text)
    assert status == 0


def test_json_reports_the_same(nimbus):
    text, status = run("--json")
    (told,) = json.loads(text)["providers"]
    assert (told["outcome"], told["revision"], told["changes"]["added"]) == ("published", 1, 12)
    assert (told["in_force"]["revision"], told["in_force"]["level"]) == (1, "green")
    assert status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["azur"], "provider: 'azur' is unknown; known providers are nimbus"),
        (["--deadline", "0"], "--deadline: 0 is not more than 0 seconds"),
        (["--deadline", "nan"], "--deadline: nan is not more than 0 seconds"),
    ],
)
def test_bad_arguments_are_refused_with_status_2(nimbus, arguments, message):
    with pytest.raises(CommandError, match=message) as refused:
        run(*arguments)
    assert refused.value.returncode == 2


@pytest.mark.parametrize("error", ["disk I/O error", "no such table: pricing_revision"])
def test_a_database_that_cannot_be_used_is_told_in_words(nimbus, monkeypatch, error):
    def check_migrations(_command):
        raise OperationalError(f"{error} of hunter2hunter2")

    monkeypatch.setenv("DATABASE_URL", "postgres://planner:hunter2hunter2@db/planner")
    monkeypatch.setattr(
        "django.core.management.base.BaseCommand.check_migrations", check_migrations
    )
    with pytest.raises(CommandError) as refused:
        call_command("refresh_prices")
    told = str(refused.value)
    assert f"The database cannot be used ({error} of ***)" in told
    assert "Published prices stay in force" in told
    assert "Check DATABASE_URL, the free space" in told
    assert refused.value.returncode == 1


def test_each_provider_has_a_line_when_it_begins_now_and_then_and_when_it_ends(monkeypatch) -> None:
    out, clock = StringIO(), iter((0.0, 5.0, 11.0, 12.0))
    monkeypatch.setattr(refresh_prices.time, "monotonic", lambda: next(clock))
    listener = refresh_prices.ProgressLines(OutputWrapper(out))
    listener.started("aws")
    for done in (1, 500, 1500, 1600):
        listener.progress("aws", "rows", done, None)
    listener.finished(RefreshResult("aws", "would_publish"))
    assert out.getvalue() == "aws: started\naws: rows 1,500\naws: would publish\n"

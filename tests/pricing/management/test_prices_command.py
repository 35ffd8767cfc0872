"""`prices verify`: what is published reads back exactly, or the command says what does not."""

import datetime as dt
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from pricing.models import Price
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db

DAY = dt.date(2026, 9, 1)


@pytest.fixture(autouse=True)
def revisions() -> None:
    for price in ("55.04", "60"):
        publish(OfferBatch("aws", (offer(price),), DAY), today=DAY)
    publish(OfferBatch("gcp", (offer("9", provider="gcp"),), DAY), today=DAY)


def run(*arguments: str) -> tuple[str, str, int]:
    out, err = StringIO(), StringIO()
    try:
        call_command("prices", "verify", *arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return out.getvalue(), err.getvalue(), int(end.code or 0)
    return out.getvalue(), err.getvalue(), 0


def test_all_checks_past_revisions_of_one_provider() -> None:
    out, _, status = run("--provider", "aws", "--all")
    assert ("2 revisions checked" in out, status) == (True, 0)


def test_a_changed_price_is_reported_with_status_1() -> None:
    Price.objects.filter(listing__provider="aws", last_revision=1).update(
        price_per_hour=Decimal("1")
    )
    assert run("--provider", "aws")[2] == 0
    out, err, status = run("--all")
    assert out.count("DIFFERS from its publication") == 1
    assert "3 revisions checked, 1 damaged" in out
    assert "Restore the database" in err
    assert status == 1


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CommandError, match="'ibm' has no published prices; known are aws, gcp"):
        call_command("prices", "verify", "--provider", "ibm")

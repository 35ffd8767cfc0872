from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest
from django.urls import reverse

from pricing.models import QuarantinedBatch, RefreshRun
from pricing.publish import publication
from pricing.publish.batch import OfferBatch
from pricing.storage import store
from tests.pricing.make import A100, offer

pytestmark = pytest.mark.django_db

TODAY = dt.date(2026, 11, 20)
GOOD = (offer("55.04"), offer("20.48", instance_type="p4de.24xlarge", accelerator=A100))
DEAR = (replace(GOOD[0], price_per_hour=Decimal(5504)), GOOD[1])


@pytest.fixture
def held():
    for offers in (GOOD, DEAR):
        publication.publish(OfferBatch("aws", offers, dt.date(2026, 9, 1)), today=TODAY)
    return QuarantinedBatch.objects.get()


def test_a_quarantined_batch_shows_why(admin_client, held):
    page = admin_client.get(reverse("admin:pricing_quarantinedbatch_change", args=[held.pk]))
    assert "changed by more than a factor of 5" in page.content.decode()


def test_a_revision_shows_its_largest_moves_and_cannot_be_edited(admin_client):
    dearer = (replace(GOOD[0], price_per_hour=Decimal("98.32")), GOOD[1])
    for offers in (GOOD, dearer):
        publication.publish(OfferBatch("aws", offers, dt.date(2026, 9, 1)), today=TODAY)
    url = reverse("admin:pricing_revision_change", args=[store.latest("aws").pk])
    page = admin_client.get(url).content.decode()
    assert "aws:us-east-1:p5.48xlarge:on_demand: 55.04 → 98.32 USD/h" in page
    assert 'name="_save"' not in page


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "model", ["revision", "quarantinedbatch", "refreshrun", "exchangerate", "region"]
)
def test_every_list_can_be_opened(admin_client, held, model):
    RefreshRun.objects.create(provider="aws")
    page = admin_client.get(reverse(f"admin:pricing_{model}_changelist"))
    assert page.status_code == 200

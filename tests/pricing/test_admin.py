from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from pricing.models import HeldBatch, RefreshRun, Revision
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
    return HeldBatch.objects.get()


def act(client, action: str, held: HeldBatch) -> str:
    data = {"action": action, "_selected_action": [held.pk]}
    url = reverse("admin:pricing_heldbatch_changelist")
    return client.post(url, data, follow=True).content.decode()


def test_a_held_batch_shows_why_it_is_held(admin_client, held):
    page = admin_client.get(reverse("admin:pricing_heldbatch_change", args=[held.pk]))
    assert "changed by more than a factor of 5" in page.content.decode()


def test_releasing_a_held_batch_publishes_it_as_it_was_fetched(admin_client, held):
    page = act(admin_client, "release", held)
    assert f"Published aws revision 2 from batch {held.pk}" in page
    assert DEAR[0] in store.read_offers(store.latest("aws"))


def test_a_batch_is_released_once(admin_client, held):
    act(admin_client, "release", held)
    assert "is not waiting" in act(admin_client, "release", held)
    assert Revision.objects.count() == 2


def test_a_discarded_batch_is_kept_and_not_published(admin_client, held):
    act(admin_client, "discard", held)
    held.refresh_from_db()
    assert (held.state, Revision.objects.count()) == (HeldBatch.State.DISCARDED, 1)


@pytest.mark.parametrize(("action", "words"), [("release", "Published"), ("discard", "Discarded")])
def test_who_decided_on_a_batch_stands_in_its_history(
    admin_client, admin_user, held, action, words
):
    act(admin_client, action, held)
    act(admin_client, action, held)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (admin_user, str(held.pk))
    assert words in entry.get_change_message()


def test_someone_who_may_only_look_cannot_release(client, held, django_user_model):
    from django.contrib.auth.models import Permission

    reader = django_user_model.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_heldbatch"))
    client.force_login(reader)
    act(client, "release", held)
    assert Revision.objects.count() == 1


def test_a_revision_shows_its_largest_moves_and_cannot_be_edited(admin_client):
    dearer = (replace(GOOD[0], price_per_hour=Decimal("98.32")), GOOD[1])
    for offers in (GOOD, dearer):
        publication.publish(OfferBatch("aws", offers, dt.date(2026, 9, 1)), today=TODAY)
    url = reverse("admin:pricing_revision_change", args=[store.latest("aws").pk])
    page = admin_client.get(url).content.decode()
    assert "aws:us-east-1:p5.48xlarge:on_demand: 55.04 → 98.32 USD/h" in page
    assert 'name="_save"' not in page


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", ["revision", "heldbatch", "refreshrun", "exchangerate", "region"])
def test_every_list_can_be_opened(admin_client, held, model):
    RefreshRun.objects.create(provider="aws")
    page = admin_client.get(reverse(f"admin:pricing_{model}_changelist"))
    assert page.status_code == 200

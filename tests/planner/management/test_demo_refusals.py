"""Where no demo workspace is made."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from planner.models import Team
from planner.services import demo_workspace
from tests.planner.workspace import market

pytestmark = pytest.mark.django_db


def told(**options) -> str:
    out = io.StringIO()
    call_command("demo_workspace", stdout=out, **options)
    return out.getvalue()


def test_it_is_not_made_in_production(settings):
    settings.DEBUG = False
    assert "--force" in told()
    assert not Team.objects.filter(slug=demo_workspace.SLUG).exists()


@pytest.mark.sweep
def test_forced_in_production_it_prints_no_password(settings):
    settings.DEBUG = False
    market()
    said = told(force=True)
    assert "changepassword" in said
    assert not get_user_model().objects.get(username="demo-owner").has_usable_password()


def test_without_prices_it_says_what_is_missing(settings):
    settings.DEBUG = True
    with pytest.raises(CommandError, match="needs prices first"):
        told()
    assert not Team.objects.filter(slug=demo_workspace.SLUG).exists()

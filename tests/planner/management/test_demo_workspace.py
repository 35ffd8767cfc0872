"""The demo workspace: made once, whole, quiet afterwards."""

import io
import re

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import call_command
from django.db import transaction
from django.test import override_settings

from planner.models import ActualsUpload, Project, State, Team
from planner.services import demo_workspace
from tests.planner.workspace import market


@pytest.fixture(autouse=True)
def _here(settings):
    settings.DEBUG = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """One workspace for the module, in a transaction that is undone."""
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with django_db_blocker.unblock(), transaction.atomic():
        market()
        with override_settings(DEBUG=True, PASSWORD_HASHERS=hashers):
            said = told()
        yield said
        transaction.set_rollback(True)


def told() -> str:
    out = io.StringIO()
    call_command("demo_workspace", stdout=out)
    return out.getvalue()


pytestmark = pytest.mark.django_db


def test_it_tells_in_two_lines_how_to_sign_in(made):
    password = re.search(r"password (\S+)", made)[1]
    assert len(made.strip().splitlines()) <= 2
    assert authenticate(username="demo-owner", password=password)


def test_there_is_an_approved_plan_one_that_waits_and_what_was_paid(made):
    (project,) = Project.objects.filter(team__slug=demo_workspace.SLUG)
    states = {saved.state for saved in project.saved_comparisons.all()}
    assert states == {State.APPROVED, State.SUBMITTED}
    assert project.team.price_adjustments
    assert ActualsUpload.objects.get(project=project).lines.count() > 2


def test_a_second_call_changes_nothing_and_shows_no_password(made):
    before = get_user_model().objects.get(username="demo-owner").password
    said = told()
    assert "demo-owner" in said
    assert "with the password" not in said
    assert get_user_model().objects.get(username="demo-owner").password == before
    assert Team.objects.filter(slug__startswith="demo").count() == 1

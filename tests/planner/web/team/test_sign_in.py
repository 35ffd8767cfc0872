"""Signing in: limits by account and address, the second factor, the company's sign-in alone."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.core.ratelimit import consume
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.conf import settings as site
from django.core.cache import cache
from django.test import Client, RequestFactory

from planner.environment import GroupRole
from planner.models import AuditEntry, Membership, Role
from planner.services.teams.teams import apply_groups
from planner.web.common.adapters import follow_groups
from tests.planner.web.team.texts import text
from tests.planner.workspace import Workspace, person

pytestmark = pytest.mark.django_db
PASSWORD = "pass word 4711"
LOGIN = "/accounts/login/"


@pytest.fixture(autouse=True)
def _fresh_limits():
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, name: str, password: str = PASSWORD, **more: Any) -> Any:
    return client.post(LOGIN, {"login": name, "password": password}, **more)


def test_an_account_is_locked_after_five_wrong_passwords_from_anywhere(client: Client) -> None:
    person("victim")
    for n in range(5):
        sign_in(client, "victim", "wrong", REMOTE_ADDR=f"192.0.2.{n}")
    assert "Too many failed login attempts. Try again later." in text(
        sign_in(client, "victim", REMOTE_ADDR="192.0.2.77")
    )


def test_colleagues_behind_one_address_sign_in_whatever_one_of_them_fails() -> None:
    office = {"REMOTE_ADDR": "198.51.100.7"}
    colleagues = [f"colleague-{n}" for n in range(10)]
    for name in colleagues:
        person(name)
    forgetful = Client()
    for _ in range(50):
        sign_in(forgetful, colleagues[0], "wrong", **office)
    statuses = [sign_in(Client(), name, **office).status_code for name in colleagues]
    assert statuses == [200] + [302] * 9


def test_an_address_that_guesses_at_many_accounts_is_refused(settings: Any) -> None:
    settings.NUM_PROXIES = 1
    person("someone")
    client = Client()
    for n in range(97):  # as each of the sign-ins below is counted
        headers = {"X-Forwarded-For": f"1.1.1.{n}, 198.51.100.7"}
        assert consume(RequestFactory().post("/", headers=headers), action="login")
    for n in range(97, 100):
        headers = {"X-Forwarded-For": f"1.1.1.{n}, 198.51.100.7"}
        assert sign_in(client, f"guess-{n}", "wrong", headers=headers).status_code == 200
    again = sign_in(client, "someone", headers={"X-Forwarded-For": "198.51.100.7"})
    other = sign_in(client, "someone", headers={"X-Forwarded-For": "198.51.100.8"})
    assert (again.status_code, other.status_code) == (429, 302)


def test_a_second_factor_is_set_up_and_asked_for(client: Client) -> None:
    user = person("careful")
    sign_in(client, "careful")
    activate = "/accounts/2fa/totp/activate/"
    again = client.get(activate)["Location"]
    page = client.post(again, {"password": PASSWORD}, follow=True)
    secret = page.context["form"].secret
    assert secret in text(page)
    assert "otpauth://totp/" in text(page)
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    client.post(activate, {"code": code})
    assert Authenticator.objects.filter(user=user, type="totp").exists()
    other = Client()
    assert sign_in(other, "careful")["Location"] == "/accounts/2fa/authenticate/"
    assert "_auth_user_id" not in other.session
    cache.clear()
    other.post("/accounts/2fa/authenticate/", {"code": code})
    assert "_auth_user_id" in other.session


ASK = """
import django, json
django.setup()
from django.core.management import call_command
from django.test import Client, RequestFactory
call_command("check", fail_level="WARNING")
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"})
pages = ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/2fa/")
statuses = {page: client.get(page).status_code for page in pages}
statuses["POST"] = client.post("/accounts/login/", {"login": "a", "password": "b"}).status_code
print(json.dumps([statuses, "company" in client.get("/accounts/login/").content.decode()]))
"""


def run_with(
    tmp_path: Any, kept_database: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "planner.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3",
    }
    if kept_database.exists():
        shutil.copy(kept_database, tmp_path / "db.sqlite3")
    return subprocess.run(
        [sys.executable, "-c", ASK],
        env=environment | variables,
        cwd=site.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sweep
def test_nobody_signs_in_by_password_where_the_company_s_sign_in_is_the_only_one(
    tmp_path, kept_database
) -> None:
    company = {"OIDC_SERVER_URL": "https://id.example.com", "OIDC_CLIENT_ID": "planner"}
    done = run_with(tmp_path, kept_database, SSO_ONLY="1", **company)
    assert done.returncode == 0, done.stderr
    statuses, is_offered = json.loads(done.stdout.splitlines()[-1])
    assert statuses == {
        "/accounts/login/": 200,
        "/accounts/signup/": 404,
        "/accounts/password/reset/": 404,
        "/accounts/2fa/": 404,
        "POST": 403,
    }
    assert is_offered


@pytest.fixture
def groups(settings: Any) -> Workspace:
    settings.OIDC_GROUPS = [
        GroupRole("ml", "alpha", "editor"),
        GroupRole("leads", "alpha", "approver"),
        GroupRole("ops", is_operator=True),
    ]
    return Workspace("alpha")


def test_groups_give_the_highest_of_their_roles_and_take_them_back(groups: Workspace) -> None:
    user = person("newcomer")
    members = Membership.objects.filter(team=groups.team, user=user)
    for now, role in ((["ml", "leads"], "approver"), (["ml"], "editor"), ([], None)):
        apply_groups(user, now)
        assert members.values_list("role", flat=True).first() == role
    actions = AuditEntry.objects.filter(actor="company sign-in").order_by("at")
    assert [entry.action for entry in actions] == [
        "member.added",
        "member.role_changed",
        "member.removed",
    ]


def test_a_group_makes_operators_and_its_loss_unmakes_them(groups: Workspace) -> None:
    user = person("newcomer")
    for now in (["ops"], []):
        apply_groups(user, now)
        user.refresh_from_db()
        assert user.is_staff is bool(now)


def test_the_only_owner_of_a_team_stays(groups: Workspace) -> None:
    apply_groups(groups.users[Role.OWNER], [])
    assert Membership.objects.filter(team=groups.team, role=Role.OWNER).count() == 1


def test_groups_are_read_at_each_sign_in_with_the_company(groups: Workspace) -> None:
    claims = {"userinfo": {"groups": ["ml"]}, "id_token": {}}
    login = SimpleNamespace(account=SimpleNamespace(extra_data=claims))
    user = person("newcomer")
    follow_groups(user=user)
    assert not Membership.objects.filter(user=user).exists()
    follow_groups(user=user, sociallogin=login)
    assert Membership.objects.get(user=user).role == Role.EDITOR

"""Account pages: our layout, sign-up open or closed, the company's sign-in where configured."""

import re

import pytest
from django.contrib.auth import get_user_model

from planner.backends import choose_mail_backend
from tests.planner.web.team.texts import text
from tests.planner.workspace import person

SIGNUP = {"username": "fresh", "password1": "pass word 4711", "password2": "pass word 4711"}
VISITOR = ["login", "signup", "password/reset", "password/reset/done", "inactive"]


@pytest.mark.parametrize("page", VISITOR)
def test_a_visitor_s_page_is_in_our_layout(client, db, settings, page):
    settings.SIGNUP_OPEN = True
    assert "GPU cost planner" in text(client.get(f"/accounts/{page}/"))


def test_no_account_is_made_where_sign_up_is_closed(client, db, settings):
    settings.SIGNUP_OPEN = False
    assert "closed" in text(client.post("/accounts/signup/", SIGNUP)).lower()
    assert not get_user_model().objects.exists()


def test_without_a_mail_server_no_log_holds_the_key_to_a_password(client, db, settings, caplog):
    """Whoever reads logs could take over any account: the link was printed whole."""
    settings.EMAIL_BACKEND = choose_mail_backend("", is_development=False)
    person("someone", email="some@one.test")
    page = text(client.get("/accounts/password/reset/"))
    assert "This server sends no mail." in page
    assert "changepassword" in page
    assert 'name="email"' not in page
    client.post("/accounts/password/reset/", {"email": "some@one.test"})
    (line,) = [one.getMessage() for one in caplog.records if one.name == "planner.backends"]
    assert "as EMAIL_URL is not set: mail to some@one.test" in line
    (link,) = re.findall(r"https?://\S+", line)
    assert link.endswith("/accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$")


def test_the_company_s_sign_in_is_offered_where_configured(client, db, settings):
    app = {"provider_id": "company", "name": "Our company", "client_id": "a", "secret": "b",
           "settings": {"server_url": "https://id.test"}}  # fmt: skip
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    assert "Sign in with Our company" in text(client.get("/accounts/login/"))

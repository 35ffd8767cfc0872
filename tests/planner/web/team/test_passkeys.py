"""Passkeys: one is added, and the next sign-in needs nothing else."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.models import Authenticator
from django.urls import reverse
from playwright.sync_api import expect

from tests.planner.web.asking import text
from tests.planner.web.browser import visit
from tests.planner.workspace import person

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.mark.django_db
def test_the_sign_in_page_offers_them(client):
    page = text(client.get(reverse("account_login")))
    assert "Sign in with a passkey" in page
    assert "mfa/js/webauthn.js" in page


@pytest.mark.sweep
@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.django_db(transaction=True)
def test_a_passkey_is_added_and_signs_in_alone(chromium, live_server, settings):
    settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
    user = person("careful")
    address = live_server.url.replace("127.0.0.1", "localhost")
    with visit(chromium, address) as here:
        devices = here.page.context.new_cdp_session(here.page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        page = here.open(reverse("account_login"))
        page.fill("#id_login", "careful")
        page.fill("#id_password", "pass word 4711")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{address}/")
        page = here.open(reverse("mfa_add_webauthn"))
        page.fill("input[type=password]", "pass word 4711")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("webauthn/add"))
        page.fill("#id_name", "Laptop")
        page.check("#id_passwordless")
        page.get_by_role("button", name="Add").click()
        page.wait_for_url(re.compile("recovery-codes"))
        assert Authenticator.objects.filter(user=user, type="webauthn").count() == 1
        page.context.clear_cookies()
        page = here.open(reverse("account_login"))
        page.get_by_text("Sign in with a passkey").click()
        page.wait_for_url(f"{address}/")
        expect(page.get_by_role("link", name="Sign out")).to_be_visible()

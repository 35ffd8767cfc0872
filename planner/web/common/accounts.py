"""Who may open an account, and how its forms look."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest

INVITED = "invited"
"""Session key of a visitor who holds an open invitation."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is open where the operator says so, and always to whoever was invited."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.SIGNUP_OPEN or request.session.get(INVITED))


class CompanyAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The company's own sign-in decides who has an account."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True

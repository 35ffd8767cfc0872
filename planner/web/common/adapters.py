"""Who may open an account, how people sign in, and how those forms look."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest

from planner.models import Invitation
from planner.services.teams.teams import apply_groups, read_groups
from planner.services.work_budget import client_address

INVITED = "invited"
"""Session key of a visitor who opened an invitation: the hash of its secret."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up is open where the operator says so, and always to whoever was invited."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        if settings.SIGNUP_OPEN:
            return True
        digest = request.session.get(INVITED)
        return isinstance(digest, str) and Invitation.objects.open().filter(digest=digest).exists()

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request.META)


class CompanyAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The company's own sign-in decides who has an account."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True


def follow_groups(user: Any, sociallogin: Any = None, **_: Any) -> None:
    """Receiver of allauth's `user_logged_in`: the roles that the company's groups give."""
    if sociallogin is not None and settings.OIDC_GROUPS:
        apply_groups(user, read_groups(sociallogin.account.extra_data or {}))

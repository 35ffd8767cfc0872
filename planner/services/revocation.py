"""Tokens that end together with what they still had done for them."""

from __future__ import annotations

from planner.models import Access, ApiToken
from planner.services.jobs.jobs import stop_jobs_of_token
from planner.services.teams.tokens import revoke_token


def revoke(access: Access, token: ApiToken) -> None:
    """Revokes a token and stops the jobs of a service token: nobody else stands behind them, and
    they would go on to use the room of the team and to publish prices."""
    revoke_token(access, token)
    stop_jobs_of_token(token)

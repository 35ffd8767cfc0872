"""The planner app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    name = "planner"
    verbose_name = "Planner"

    def ready(self) -> None:
        """The budget watch waits for new prices, the notices for what a refresh came to, roles for
        whoever signs in with a company account."""
        from allauth.account.signals import user_logged_in

        from planner.services.alerts.alerts import tell
        from pricing.publish.publication import refresh_ended, revision_published

        user_logged_in.connect(_follow_groups, dispatch_uid="company-groups")
        revision_published.connect(_start_watch, dispatch_uid="budget-watch")
        refresh_ended.connect(tell, dispatch_uid="price-notices")


def _follow_groups(**signal: Any) -> None:
    """Read in when somebody signs in: a command needs none of it."""
    from planner.web.common.adapters import follow_groups

    follow_groups(**signal)


def _start_watch(**signal: object) -> None:
    """What compares projects is read in when there is something to compare: a refresh of prices
    in a process of its own would else hold all of it."""
    from planner.models import watched_projects

    if watched_projects().exists():
        from planner.services.alerts.alerts import start_watch

        start_watch(**signal)

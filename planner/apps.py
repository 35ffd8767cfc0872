"""The planner app."""

from __future__ import annotations

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    name = "planner"
    verbose_name = "Planner"

    def ready(self) -> None:
        """The budget watch waits for new prices."""
        from planner.services.alerts.budget_watch import start_watch
        from pricing.publish.signals import revision_published

        revision_published.connect(start_watch, dispatch_uid="budget-watch")

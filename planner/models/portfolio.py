"""Portfolios that a team keeps: one plan for several projects, and who may see all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from planner.models.project import State
from planner.models.team import NAME_LENGTH, TeamOwned, Versioned

if TYPE_CHECKING:
    from planner.contract.answer.portfolio import PortfolioAnswer

PORTFOLIO_DOCUMENTS = (
    *("request", "inherited", "revisions", "rates", "assumptions", "answer", "headline"),
    "repriced",
)
"""Columns that a list does not need."""


class SavedPortfolio(TeamOwned, Versioned):
    """A portfolio's answer kept with all that it came from: request, revisions, assumptions."""

    name = models.CharField(max_length=NAME_LENGTH)
    note = models.CharField(max_length=2000, blank=True)
    request = models.JSONField()
    """The request that was answered, the team's rates and start month in."""
    inherited = models.JSONField(default=dict)
    """Request field → where its value came from in the team's settings."""
    revisions = models.JSONField(default=dict)
    """Provider → catalog revision that the answer used."""
    rates = models.JSONField(default=list)
    """Exchange rates that the answer used: currency, day, units in a US dollar, source."""
    assumptions = models.JSONField(default=list)
    answer = models.JSONField()
    headline = models.CharField(max_length=1000, blank=True)
    owners = models.JSONField(default=dict)
    """Name of a project in the portfolio → `Access.person` of whoever made it, who sees its
    share."""
    shown_to_all = models.BooleanField(default=False)
    """Whether every member sees all shares, and not approvers and owners alone."""
    answered_on = models.DateField()
    watched = models.BooleanField(default=True, db_default=True)
    """Whether it is priced again after each refresh while it is approved."""
    watch_threshold = models.FloatField(default=0.05, db_default=0.05)
    """Fraction by which the total must move to raise an alert."""
    repriced = models.JSONField(null=True)
    """At later prices: the day (`on`), and figures then and now (`changes`)."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_key = models.CharField(max_length=60, blank=True)
    """`Access.person` of who saved it."""
    approved_as = models.CharField(max_length=NAME_LENGTH, blank=True)
    """Name of the person or token that approved it; outlives the account."""
    approved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("team", "-created_at"), name="portfolio_by_team"),)
        constraints = (
            models.UniqueConstraint(
                fields=("team",),
                condition=models.Q(state="approved"),
                name="one_approved_portfolio",
            ),
        )

    def __str__(self) -> str:
        return self.name

    def read_answer(self) -> PortfolioAnswer:
        """The answer, validated."""
        from planner.contract.answer.portfolio import PortfolioAnswer

        return PortfolioAnswer.model_validate(self.answer)

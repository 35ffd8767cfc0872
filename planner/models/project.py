"""Projects and the comparisons that a team keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from planner.models.team import NAME_LENGTH, Access, Role, TeamOwned, TeamQuerySet, Versioned

if TYPE_CHECKING:
    from planner.contract.answer.comparison import AnswerSummary, SavedPlan
    from planner.contract.answer.portfolio import PortfolioAnswer


def _person() -> models.ForeignKey[models.Model | None, models.Model | None]:
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )


class BudgetPeriod(models.TextChoices):
    TOTAL = "total"
    YEARLY = "yearly"
    MONTHLY = "monthly"


class Project(TeamOwned, Versioned):
    """A workload and its assumptions, with a budget and a watch on its prices."""

    name = models.CharField(max_length=NAME_LENGTH)
    description = models.CharField(max_length=2000, blank=True)
    cost_centre = models.CharField(max_length=NAME_LENGTH, blank=True, default="", db_default="")
    """Where finance books it; a tag of its rows."""
    workload = models.JSONField(default=dict, blank=True)
    assumptions = models.JSONField(default=dict, blank=True)
    """The rest of the comparison request: start, horizon_months, constraints, on_prem, …"""
    budget = models.CharField(max_length=40, blank=True)
    """Decimal text in the project's currency; empty means no budget."""
    budget_period = models.CharField(
        max_length=8, choices=BudgetPeriod.choices, default=BudgetPeriod.TOTAL
    )
    watched = models.BooleanField(default=False)
    watch_threshold = models.FloatField(default=0.05)
    """Fraction by which the recommended total must move to raise an alert."""
    archived = models.BooleanField(default=False)
    created_by = _person()

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("team", "-created_at"), name="project_by_team"),)

    def __str__(self) -> str:
        return self.name


REASON_LENGTH = 500
"""Characters of what an approver says who sends a plan back."""


class State(models.TextChoices):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    SUPERSEDED = "superseded"


class SavedComparison(TeamOwned, Versioned):
    """An answer as it was shown, with the request and the price lists that it came from."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_comparisons")
    name = models.CharField(max_length=NAME_LENGTH)
    note = models.CharField(max_length=2000, blank=True)
    given = models.JSONField()
    """The request as its author wrote it, before the team's rates."""
    request = models.JSONField()
    """The request that was answered, with the team's rates and the start month."""
    revisions = models.JSONField(default=dict)
    """Provider → catalog revision that the answer used."""
    answer = models.JSONField()
    """As it was given, in the form of that day; `read_plan` is what every release reads of it."""
    rows = models.JSONField(default=list)
    """What its page shows: sections, each a `title` and `rows` of label, value and unit."""
    summary = models.JSONField(default=dict)
    """What lists show: recommendation, totals, currency, months."""
    answered_on = models.DateField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    created_by = _person()
    submitted_by = _person()
    submitted_as = models.CharField(max_length=NAME_LENGTH, blank=True)
    """Name of the person or token; outlives the account."""
    submitted_key = models.CharField(max_length=60, blank=True)
    """`Access.person` of who submitted it."""
    submitted_at = models.DateTimeField(null=True)
    sent_back_as = models.CharField(max_length=NAME_LENGTH, default="", db_default="", blank=True)
    """Name of who last made it a draft again; empty once it is submitted again."""
    sent_back_at = models.DateTimeField(null=True)
    sent_back_reason = models.CharField(
        max_length=REASON_LENGTH, default="", db_default="", blank=True
    )
    approved_by = _person()
    approved_as = models.CharField(max_length=NAME_LENGTH, blank=True)
    approved_at = models.DateTimeField(null=True)
    superseded_by = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("team", "-created_at"), name="saved_by_team"),)
        constraints = (
            models.UniqueConstraint(
                fields=("project",), condition=models.Q(state="approved"), name="one_approved_plan"
            ),
        )

    def __str__(self) -> str:
        return self.name

    def read_plan(self) -> SavedPlan:
        """Of the answer what stays the same in every release."""
        from planner.contract.answer.comparison import SavedPlan

        return SavedPlan.model_validate(self.answer)

    def read_summary(self) -> AnswerSummary:
        """What lists show of the answer, validated."""
        from planner.contract.answer.comparison import AnswerSummary

        return AnswerSummary.model_validate(self.summary)

    @property
    def submitter(self) -> str | None:
        """Who submitted it, person or token."""
        return self.submitted_as or None

    @property
    def sender(self) -> str | None:
        """Who sent it back, person or token; None where nobody did since it was submitted."""
        return self.sent_back_as or None

    @property
    def approver(self) -> str | None:
        return self.approved_as or None


class ActualsUpload(TeamOwned):
    """One file of what a project really used and paid."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    file_name = models.CharField(max_length=200, blank=True)
    format = models.CharField(max_length=10)
    rows = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    currency = models.CharField(max_length=3)
    uploaded_by = _person()
    created_at = models.DateTimeField(default=timezone.now)
    doubtful: Sequence[str] = ()
    """What is doubtful in the file; known while it is uploaded, and not stored."""

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="one_upload_per_file"),
        )

    def __str__(self) -> str:
        return f"{self.file_name or self.format}, {self.rows} rows"


class ActualLine(models.Model):
    """The rows of an upload summed by month and what was bought."""

    upload = models.ForeignKey(ActualsUpload, on_delete=models.CASCADE, related_name="lines")
    month = models.CharField(max_length=7)
    provider = models.CharField(max_length=60, blank=True)
    region = models.CharField(max_length=60, blank=True)
    instance_type = models.CharField(max_length=120, blank=True)
    purchase_option = models.CharField(max_length=30, blank=True)
    category = models.CharField(max_length=30)
    hours = models.FloatField(default=0)
    """Accelerator-hours of our own files, hours of the machine as billed of FOCUS rows."""
    cost = models.CharField(max_length=40)
    """Decimal text, exact, in the upload's currency."""

    class Meta:
        ordering = ("month", "pk")

    def __str__(self) -> str:
        return f"{self.month} {self.instance_type} {self.cost}"


class PortfolioQuerySet(TeamQuerySet):
    def for_access(self, access: Access) -> Self:
        """A joint plan tells what each project pays: approvers and owners see it, who saved it, and
        everybody where it is shown to all."""
        teams = [team for team in access.team_ids if access.has_role(team, Role.APPROVER)]
        is_visible = Q(shown_to_all=True) | Q(created_key=access.person) | Q(team_id__in=teams)
        return super().for_access(access).filter(is_visible)


class SavedPortfolio(TeamOwned, Versioned):
    """A portfolio's answer with the request and the price lists that it came from."""

    name = models.CharField(max_length=NAME_LENGTH)
    note = models.CharField(max_length=2000, blank=True)
    request = models.JSONField()
    """The request that was answered, the team's rates and start month in."""
    answer = models.JSONField()
    shown_to_all = models.BooleanField(default=False)
    """Whether every member sees it, and not its author, approvers and owners alone."""
    answered_on = models.DateField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_key = models.CharField(max_length=60, blank=True)
    """`Access.person` of who saved it."""
    approved_as = models.CharField(max_length=NAME_LENGTH, blank=True)
    """Name of the person or token that approved it; outlives the account."""
    approved_at = models.DateTimeField(null=True)

    objects = PortfolioQuerySet.as_manager()  # type: ignore[misc]

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

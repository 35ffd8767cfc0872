"""What a team or an operator is told: alerts, notices, projects at a glance.

After each refresh of prices, watched projects are priced again. What holds is an alert once, sent
to webhooks; it ends when it holds no longer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import format_money, format_month
from planner.contract.answer.common import write_decimal
from planner.contract.answer.comparison import AlertCause, ComparisonAnswer, summarize_answer
from planner.contract.labels import cloud_title
from planner.models import (
    ALL_SCOPES,
    Access,
    ActualLine,
    Alert,
    AlertKind,
    BudgetPeriod,
    Job,
    JobState,
    Project,
    SavedComparison,
    State,
    Team,
    WebhookEvent,
    watched_projects,
)
from planner.services.jobs import jobs
from planner.services.jobs.jobs import Progress
from planner.services.projects.projects import (
    PLAN_FIRST,
    Repriced,
    current_plan,
    may_approve,
    project_currency,
    reprice,
)
from planner.services.teams.access import EDIT, VIEW, record, require
from planner.services.webhooks.webhooks import emit, link_to
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.common.words import capitalize_first
from pricing.models import RefreshRun
from pricing.publish.refresh import RefreshResult
from pricing.revisions import list_newly_unread

PAID = "What was paid"
"""How a message on what was paid begins."""
WATCHER = Access(name="budget watch", scopes=ALL_SCOPES)
_CENT = Decimal("0.01")
_PERIOD_TEXT = {BudgetPeriod.TOTAL: 0, BudgetPeriod.YEARLY: 4, BudgetPeriod.MONTHLY: 7}
"""Letters of a month (2027-01) that name its budget period."""


@dataclass(frozen=True)
class Finding:
    kind: AlertKind
    message: str
    before: str = ""
    """Amount that was expected, as text."""
    after: str = ""
    """Amount now; empty where no plan is feasible any more."""


def start_watch(**_: object) -> None:
    """Receiver of `revision_published`: one watch, the one that waits where there is one."""
    waiting = Job.objects.filter(kind="budget_watch", state=JobState.QUEUED)
    if watched_projects().exists() and not waiting.exists():
        jobs.start(WATCHER, "budget_watch", {}, None)


def watch_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Prices every watched project again; says how many alerts that gave."""
    projects = list(watched_projects().select_related("team"))
    alerts = 0
    for index, project in enumerate(projects):
        progress.step(index, len(projects), f"Pricing {project.name}")
        alerts += len(watch_project(project))
    return {"projects": len(projects), "alerts": alerts}


def watch_project(project: Project) -> list[Alert]:
    """Alerts of one project at today's prices; the same prices never alert twice.

    The plan is priced in the currency of its own answer, whatever its project's is by now.
    """
    plan = current_plan(project)
    if plan is None:
        return []
    currency = plan.read_summary().currency
    try:
        repriced = reprice(plan, catalogs.current(), {"currency": currency})
    except InvalidInput as refusal:
        refused = Finding(AlertKind.NOT_FEASIBLE, str(refusal))
        return create_alerts(project, currency, [refused], plan)
    findings = list(_find_problems(project, plan, repriced))
    offers = plan.read_plan().offers
    currencies = {name: offer.native_currency or "USD" for name, offer in offers.items()}
    causes = [
        AlertCause(**dict(row), currency=currencies.get(row.offer_id, "USD"))
        for row in repriced.prices_moved
    ]
    verdict = repriced.answer.verdict
    advice = f"Plan of today: {verdict.sentence}" if verdict else ""
    return create_alerts(project, currency, findings, plan, causes, advice)


def watch_spending(project: Project) -> list[Alert]:
    """An alert where what was really paid outgrew the budget of a period, watched or not.

    Only what was paid in the currency of the budget is held against it.
    """
    if not project.budget:
        return []
    budget = Decimal(project.budget)
    currency = project_currency(project)
    lines = ActualLine.objects.filter(upload__project=project, upload__currency=currency)
    length = _PERIOD_TEXT[BudgetPeriod(project.budget_period)]
    spent: dict[str, Decimal] = defaultdict(Decimal)
    for month, cost in lines.values_list("month", "cost"):
        spent[month[:length]] += Decimal(cost)
    findings = []
    for period in sorted(spent):
        paid = spent[period].quantize(_CENT)
        if paid > budget:
            when = f" in {period}" if period else ""
            message = f"{PAID}{when} is {paid / budget - 1:.1%} over the budget."
            amounts = f"{budget.quantize(_CENT):f}", f"{paid:f}"
            findings.append(Finding(AlertKind.BUDGET_OVERRUN, message, *amounts))
    return create_alerts(project, currency, findings)


def _find_problems(
    project: Project, plan: SavedComparison, repriced: Repriced
) -> Iterator[Finding]:
    then, now = plan.read_summary(), summarize_answer(repriced.answer)
    after = now.total_cost
    if after is None:
        before = "" if then.total_cost is None else write_decimal(then.total_cost)
        yield Finding(AlertKind.NOT_FEASIBLE, "No plan is feasible at today's prices.", before)
        return
    yield from _find_crossed(plan, repriced.answer)
    moves = Alert.objects.filter(saved_comparison=plan, kind=AlertKind.PRICE_MOVE)
    last = moves.order_by("-created_at").values_list("after", flat=True).first()
    baseline = Decimal(last) if last else then.total_cost
    if baseline and abs(move := float(after / baseline - 1)) > project.watch_threshold:
        message = f"The advised plan moved by {move:+.1%} at today's prices."
        amounts = write_decimal(baseline), write_decimal(after)
        yield Finding(AlertKind.PRICE_MOVE, message, *amounts)
    budget = comparable_budget(project, plan)
    if budget is not None and after > budget:
        message = f"The advised plan is {after / budget - 1:.1%} over the budget."
        rounded = write_decimal(budget.quantize(_CENT))
        yield Finding(AlertKind.BUDGET_OVERRUN, message, rounded, write_decimal(after))


def _find_crossed(plan: SavedComparison, now: ComparisonAnswer) -> Iterator[Finding]:
    policy = plan.read_plan().policy
    if policy is None or now.policy is None or now.verdict is None:
        return
    prices, month = now.policy.prices, format_month(timezone.now().date())
    for trigger in policy.triggers:
        price = prices.get(trigger.price_of)
        if price is None or not trigger.is_crossed(price, month):
            continue
        side = "above" if trigger.is_above else "below"
        message = (
            f"{capitalize_first(trigger.price_of)} is {price:,.2f} {now.currency}, {side} "
            f"{trigger.at_month(month):,.2f}: {trigger.action} {trigger.what}. "
            f"Plan of today: {now.verdict.headline}"
        )
        yield Finding(AlertKind.TRIGGER_CROSSED, message, f"{trigger.today:.2f}", f"{price:.2f}")
        return


def budget_over_horizon(project: Project, plan: SavedComparison | None) -> Decimal | None:
    """The project's budget for all months of the plan; without a plan, only a total is known."""
    if not project.budget or (plan is None and project.budget_period != BudgetPeriod.TOTAL):
        return None
    months = int(plan.request.get("horizon_months", 36)) if plan else 0
    shares = {
        BudgetPeriod.TOTAL: Decimal(1),
        BudgetPeriod.YEARLY: Decimal(months) / 12,
        BudgetPeriod.MONTHLY: Decimal(months),
    }
    return Decimal(project.budget) * shares[BudgetPeriod(project.budget_period)]


def comparable_budget(project: Project, plan: SavedComparison) -> Decimal | None:
    """The same; None also where the plan is in another currency than its project."""
    is_comparable = plan.read_summary().currency == project_currency(project)
    return budget_over_horizon(project, plan) if is_comparable else None


def excess_over_budget(project: Project, plan: SavedComparison) -> Decimal | None:
    """By how much a plan is over the budget of its project; None where it is not, or where one of
    them is in another currency or not known."""
    budget, total = comparable_budget(project, plan), plan.read_summary().total_cost
    return total - budget if budget is not None and total and total > budget else None


# What was told already --------------------------------------------------------------------


@transaction.atomic
def create_alerts(
    project: Project,
    currency: str,
    findings: Sequence[Finding],
    plan: SavedComparison | None = None,
    causes: Sequence[AlertCause] = (),
    advice: str = "",
) -> list[Alert]:
    """Alerts of what is new among the findings, on the prices of a plan or on what was paid; what
    is not among them any more has ended. A plan without a price says nothing of its budget.
    Messages on them end with the `advice`."""
    revisions = current_revisions() if plan else {}
    rows = Alert.objects.filter(project=project, saved_comparison=plan, ended_at=None)
    active = {_topic(row): row for row in rows.order_by("created_at")}
    topics = {_topic(finding) for finding in findings}
    if (AlertKind.NOT_FEASIBLE, "") not in topics:
        over = [row.pk for topic, row in active.items() if topic not in topics]
        ended = rows.filter(pk__in=over).exclude(kind=AlertKind.PRICE_MOVE)
        ended.update(ended_at=timezone.now())
    return [
        _alert(finding, project, currency, plan, revisions, causes, advice)
        for finding in findings
        if (last := active.get(_topic(finding))) is None
        or not _is_known(last, finding, currency, revisions)
    ]


def _topic(row: Alert | Finding) -> tuple[str, str]:
    is_of_bills = row.message.startswith(PAID)
    return row.kind, row.message.partition(" is ")[0] if is_of_bills else ""


def _is_known(last: Alert, finding: Finding, currency: str, revisions: dict[str, int]) -> bool:
    if last.saved_comparison_id is None:
        now = (finding.message, finding.after, currency)
        return (last.message, last.after, last.currency) == now
    return last.revisions == revisions or last.after == finding.after


def _alert(
    finding: Finding,
    project: Project,
    currency: str,
    plan: SavedComparison | None,
    revisions: dict[str, int],
    causes: Sequence[AlertCause],
    advice: str,
) -> Alert:
    alert = Alert.objects.create(
        team_id=project.team_id,
        project=project,
        saved_comparison=plan,
        revisions=revisions,
        kind=finding.kind.value,
        message=finding.message[:500],
        currency=currency,
        before=finding.before,
        after=finding.after,
        causes=[cause.model_dump(mode="json") for cause in causes],
    )
    amounts = [
        f"{words}: {format_money(Decimal(amount), currency)}."
        for words, amount in (("Before", finding.before), ("Now", finding.after))
        if amount
    ]
    plan_of_today = "" if finding.kind == AlertKind.TRIGGER_CROSSED else advice
    text = [
        " ".join([finding.message, *amounts]),
        plan_of_today,
        link_to("project", project.team.slug, project.pk),
    ]
    title = f"{project.name}: {finding.kind.label.lower()}"
    is_overrun = finding.kind == AlertKind.BUDGET_OVERRUN
    event = WebhookEvent.BUDGET_OVERRUN if is_overrun else WebhookEvent.PRICE_MOVED
    emit(project.team_id, event, title, "\n\n".join(filter(None, text)))
    return alert


def acknowledge(access: Access, alert: Alert) -> Alert:
    """Marks an alert as seen; who did it first stays."""
    require(access, alert.team_id, EDIT)
    if alert.acknowledged_at is None:
        alert.acknowledged_at = timezone.now()
        alert.acknowledged_by_id = access.user_id
        alert.save(update_fields=["acknowledged_at", "acknowledged_by"])
        record(access, "alert.acknowledged", alert)
    return alert


# Prices that were not published -----------------------------------------------------------

MAX_PARTS = 5
_HEADLINES = {"failed": "could not be refreshed", "quarantined": "are quarantined for review"}


def tell(*, results: Sequence[RefreshResult], **_: Any) -> None:
    """One notice for what of `results` is new: a provider that goes on failing, or being
    quarantined, for the same reason is told again each day."""
    new = [one for one in results if one.outcome in _HEADLINES and _is_new(one)]
    problems = [(_make_headline(one), one.message, one.hint) for one in new]
    for one in results:
        revision = one.publication.revision if one.publication else None
        if revision and (unread := list_newly_unread(revision)):
            problems.append(
                (
                    f"Parts of the prices of {cloud_title(one.provider)} did not come",
                    "; ".join(unread[:MAX_PARTS]),
                    "Their last published prices stay in force with their own dates.",
                )
            )
    if problems:
        parts = ["\n".join(filter(None, (f"{title}.", *rest))) for title, *rest in problems]
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        text = "\n\n".join([*parts, f"Review: {link_to('operator')}"])
        emit(None, WebhookEvent.PRICES_HELD, f"{problems[0][0]}{more}", text)


def _make_headline(result: RefreshResult) -> str:
    reasons = result.publication.reasons if result.publication else ()
    parts = [reason.partition(":")[0] for reason in reasons[:MAX_PARTS]]
    more = [f"{len(reasons) - MAX_PARTS} more parts"] if len(reasons) > MAX_PARTS else []
    names = f" ({', '.join(parts + more)})" if parts else ""
    return f"Prices of {cloud_title(result.provider)}{names} {_HEADLINES[result.outcome]}"


def _is_new(result: RefreshResult) -> bool:
    """Whether its run before ended otherwise, or on another day (UTC): prices that are refreshed
    every hour would else tell nobody again, or everybody every time."""
    runs = RefreshRun.objects.filter(provider=result.provider).exclude(finished_at=None)
    last = list(runs.order_by("-id")[:2])
    ends = {(run.outcome, run.message, run.started_at.date()) for run in last}
    return len(last) < 2 or len(ends) > 1


# Projects at a glance ---------------------------------------------------------------------

_UNREAD = ("answer", "rows", "given")


@dataclass(frozen=True)
class PriceListChange:
    """A price list that has a later revision than the one an answer used."""

    provider: str
    used: int
    now: int


@dataclass(frozen=True)
class ProjectSummary:
    """One project in a line. Amounts of the plan are in the plan's currency."""

    project: Project
    currency: str
    """Of budget and actuals."""
    plan: SavedComparison | None
    budget: Decimal | None
    """For all months of the plan; for a total budget without a plan, the budget."""
    actual: Decimal | None
    """What was really paid so far; None before the first upload."""
    months_paid: int
    price_changes: tuple[PriceListChange, ...]
    alerts: int
    """Open ones."""
    submitted: tuple[SavedComparison, ...] = ()
    """Others than the plan that wait for approval, the latest first."""

    @property
    def planned(self) -> Decimal | None:
        """Total of the plan, in its own currency; None without a feasible one."""
        return self.plan.read_summary().total_cost if self.plan else None

    @property
    def is_over(self) -> bool:
        """Whether the plan is above the budget; unknown where their currencies differ."""
        return bool(self.plan and excess_over_budget(self.project, self.plan))


def current_revisions() -> dict[str, int]:
    return {r.provider: r.number for r in catalogs.revisions_in_force()}


def changes_since(
    saved: SavedComparison, current: Mapping[str, int]
) -> tuple[PriceListChange, ...]:
    """Price lists that an answer used and that were published anew since."""
    if not saved.read_summary().uses_catalog:
        return ()
    return tuple(
        PriceListChange(provider, used, current[provider])
        for provider, used in saved.revisions.items()
        if current.get(provider, used) != used
    )


def project_summaries(
    access: Access, team: Team, *, archived: bool = False
) -> list[ProjectSummary]:
    """The team's projects, the newest first, in a fixed number of queries."""
    require(access, team.pk, VIEW)
    projects = list(Project.objects.filter(team=team, archived=archived).select_related("team"))
    current = current_revisions()
    rows = SavedComparison.objects.filter(project__in=projects).defer(*_UNREAD)
    saved = group([(one.project_id, one) for one in rows.order_by(*PLAN_FIRST)])
    paid, months = _actuals(projects)
    open_alerts = Counter(
        Alert.objects.filter(project__in=projects, acknowledged_at=None).values_list(
            "project", flat=True
        )
    )
    return [
        ProjectSummary(
            project=project,
            currency=project_currency(project),
            plan=(plan := next(iter(saved.get(project.pk, [])), None)),
            submitted=tuple(s for s in saved.get(project.pk, [])[1:] if s.state == State.SUBMITTED),
            budget=budget_over_horizon(project, plan),
            actual=paid.get(project.pk),
            months_paid=len(months[project.pk]),
            price_changes=changes_since(plan, current) if plan else (),
            alerts=open_alerts[project.pk],
        )
        for project in projects
    ]


def _actuals(projects: list[Project]) -> tuple[dict[UUID, Decimal], dict[UUID, set[str]]]:
    currencies = {project.pk: project_currency(project) for project in projects}
    lines = ActualLine.objects.filter(upload__project__in=projects)
    paid: dict[UUID, Decimal] = {}
    months: dict[UUID, set[str]] = defaultdict(set)
    fields = ("upload__project", "upload__currency", "month", "cost")
    for project, currency, month, cost in lines.order_by().values_list(*fields):
        if currency == currencies[project]:
            paid[project] = paid.get(project, Decimal(0)) + Decimal(cost)
            months[project].add(month)
    return paid, months


@dataclass(frozen=True)
class ToApprove:
    """A submitted plan that this person may approve."""

    saved: SavedComparison
    replaces: SavedComparison | None
    """The approved plan of the project, which approval would supersede."""


@dataclass(frozen=True)
class Inbox:
    """What waits for one person in one team, the oldest first."""

    to_approve: tuple[ToApprove, ...]
    sent_back: tuple[SavedComparison, ...]
    """Their plans that somebody else made drafts again."""

    def __len__(self) -> int:
        return len(self.to_approve) + len(self.sent_back)


def read_inbox(access: Access, team: Team) -> Inbox:
    """Projects in the archive ask nobody for anything."""
    require(access, team.pk, VIEW)
    rows = SavedComparison.objects.filter(team=team, project__archived=False)
    rows = rows.defer(*_UNREAD).select_related("project", "project__team")
    sent_back = rows.filter(
        state=State.DRAFT, submitted_key=access.person, sent_back_at__isnull=False
    )
    approved = {one.project_id: one for one in rows.filter(state=State.APPROVED)}
    submitted = rows.filter(state=State.SUBMITTED).order_by("submitted_at", "pk")
    return Inbox(
        tuple(
            ToApprove(plan, approved.get(plan.project_id))
            for plan in submitted
            if may_approve(access, plan)
        ),
        tuple(sent_back.exclude(sent_back_as=access.name).order_by("created_at", "pk")),
    )

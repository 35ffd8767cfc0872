"""Portfolios of a team: the request of its projects, planned with its rates, kept, approved."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise, zip_longest
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import add_months, count_months, format_month, next_month, parse_month
from planner.contract.answer.comparison import SavedPlan
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import Purchase
from planner.contract.request.comparison import MAX_HORIZON_MONTHS, read_request
from planner.contract.request.portfolio import ALONE_ONLY
from planner.contract.request.workload import DEFAULT_MONTHS
from planner.models import Access, Job, Project, Role, SavedComparison, SavedPortfolio, State, Team
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.words import join
from planner.services.jobs.jobs import Progress, access_for_job
from planner.services.projects.comparisons import answer_at_rates
from planner.services.projects.projects import compose, expect_state
from planner.services.teams.access import (
    APPROVE,
    EDIT,
    WrongStateError,
    edit,
    record,
    remove,
    require,
    require_place,
    require_room,
)
from planner.services.teams.teams import with_sources
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group


def plan_for_team(
    request: object, team: Team | None = None
) -> tuple[dict[str, Any], PortfolioAnswer]:
    """Plans `request` with the team's rates and defaults applied, at today's prices and within the
    budget of the request or job: the request then, and the answer. Raises `InvalidInput`."""
    market = catalogs.current()

    def answer(resolved: dict[str, Any]) -> PortfolioAnswer:
        return plan_portfolio(resolved, market, work=current_budget().meter)

    resolved, inherited, planned = answer_at_rates(request, team, market, answer, "data")
    return resolved, with_sources(planned, inherited)


def portfolio_job(job: Job, progress: Progress) -> dict[str, Any]:
    progress.step(0, None, "Planning all projects together")
    return plan_for_team(job.arguments["request"], job.team)[-1].to_json()


def save_portfolio(access: Access, team: Team, **fields: Any) -> SavedPortfolio:
    """Answers a request and keeps that as a draft: `prepare_portfolio`, and at once the rest."""
    return prepare_portfolio(access, team, **fields)()


def prepare_portfolio(
    access: Access,
    team: Team,
    *,
    name: str,
    request: Mapping[str, Any],
    note: str = "",
    shown_to_all: bool = False,
    pk: uuid.UUID | None = None,
) -> Callable[[], SavedPortfolio]:
    """Answers the request with the database free meanwhile. What it gives back keeps the answer as
    a draft."""
    require(access, team.pk, EDIT)
    require_room("saved portfolios", SavedPortfolio.objects.filter(team=team))
    key = pk or uuid.uuid4()
    today = timezone.now().date()
    dated = {**request, "start": request.get("start") or format_month(next_month(today))}
    resolved, answer = plan_for_team(dated, team)

    @transaction.atomic
    def store() -> SavedPortfolio:
        require_place(access, team, "saved portfolios", SavedPortfolio.objects.filter(team=team))
        earlier: SavedPortfolio | None = SavedPortfolio.objects.filter(pk=key, team=team).first()
        if earlier is not None:
            return earlier
        saved = SavedPortfolio.objects.create(
            pk=key,
            team=team,
            name=name,
            note=note,
            request=resolved,
            answer=answer.to_json(),
            shown_to_all=shown_to_all,
            answered_on=today,
            created_by_id=access.user_id,
            created_key=access.person,
        )
        record(access, "saved_portfolio.created", saved, after=_logged(saved))
        return saved

    return store


def _logged(saved: SavedPortfolio) -> dict[str, Any]:
    """What the audit log, which every member reads, tells of a portfolio: no amount."""
    return {"name": saved.name, "projects": [one["name"] for one in saved.request["projects"]]}


def save_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Keeps a portfolio that takes longer than a page waits: `save_portfolio` with the arguments of
    the job, in the name of whoever started it. Its id is the job's, so that it is kept once."""
    progress.step(0, None, "Planning all projects together")
    if job.team is None:
        raise InvalidInput("team", "a portfolio belongs to a team; name one")
    saved = save_portfolio(access_for_job(job), job.team, pk=job.pk, **job.arguments)
    return {"saved_portfolio": str(saved.pk)}


def delete_portfolio(access: Access, saved: SavedPortfolio) -> None:
    require(access, saved.team_id, EDIT)
    expect_state(saved, State.DRAFT)
    remove(access, saved, "saved_portfolio.deleted", _logged(saved))


@transaction.atomic
def approve_portfolio(
    access: Access, saved: SavedPortfolio, seen: int | None = None
) -> SavedPortfolio:
    """Makes it the team's plan; the one approved before is superseded. Two people take part in
    it: nobody but an owner approves what they saved themselves."""
    require(access, saved.team_id, APPROVE)
    Team.objects.select_for_update().get(pk=saved.team_id)  # one approval at a time
    current: SavedPortfolio = SavedPortfolio.objects.select_for_update().get(pk=saved.pk)
    expect_state(current, State.DRAFT)
    if current.created_key == access.person and not access.has_role(saved.team_id, Role.OWNER):
        raise WrongStateError("You saved it; another approver or an owner must approve it.")
    for other in SavedPortfolio.objects.filter(team=saved.team_id, state=State.APPROVED):
        edit(access, other, {"state": State.SUPERSEDED}, action="saved_portfolio.superseded")
    changes = {"state": State.APPROVED, "approved_as": access.name, "approved_at": timezone.now()}
    return edit(access, current, changes, seen_version=seen, action="saved_portfolio.approved")


# The request that the projects of a team make ---------------------------------------------

_OF_ALL_PROJECTS = (
    *("quotas", "capex_budget", "capex_by_fiscal_year", "monthly_budget", "total_budget"),
    "capex_months",
)
_CONTRACTS = ("commitments", "leased_servers")
_OF_MACHINE = {"provider", "region", "accelerator", "accelerator_count"}

Request = dict[str, Any]


def portfolio_of_projects(
    team: Team,
    projects: Iterable[Project],
    included: Iterable[str] | None = None,
    windows: Mapping[str, Window] | None = None,
    at_once: Collection[str] = (),
) -> Request:
    """A portfolio of the projects that have a workload, over the months of all of them that are to
    come.

    Months before next month count as done, projects that end before it are left out. Hours that
    are given by month move to their month of the common calendar. Budgets and quotas of a project
    are its own plan's and are left out, as are its other costs; finance and what owning costs are
    the team's. A project with credits or minimum spends is refused unless it is left out.
    What an approved plan, of a project or of all, buys or signs by the first month is there for
    all, also once the project is over or another plan has taken its place (`_held`,
    `_joint_plans`).
    `included` are the ids of those that are planned, `windows` by id the months within which the
    hours of a project may move, `at_once` the ids of those whose jobs do not wait for others.
    """
    rows = [project for project in projects if project.workload]
    chosen = None if included is None else set(included)
    if not rows:
        raise InvalidInput(
            "projects", "no project of the team has a workload yet; give one to some"
        )
    now = first_month_to_come()
    rows = [project for project in rows if not _is_over(compose(project), now)]
    if not rows:
        raise InvalidInput("projects", f"every project ends before {now:%B %Y}")
    requests = [compose(project) for project in rows]
    first = max(min(_span(request)[0] for request in requests), now)
    last = max(_end(request) for request in requests)
    months = min(count_months(first, last), MAX_HORIZON_MONTHS)
    _refuse_alone_only([project for project in rows if chosen is None or str(project.pk) in chosen])
    signed = _Signed.by(team, first, list(zip(rows, requests, strict=True)))
    entries = []
    for project, request in zip(rows, requests, strict=True):
        key, held = str(project.pk), _holdings(request, project, signed)
        entry = _entry(request, project, first, months, held)
        entry["included"] = chosen is None or key in chosen
        entries.append(entry)
        if key in at_once:
            entry["at_once"] = True
        if window := (windows or {}).get(key):
            entry["window"] = {
                "start": window.start or format_month(first),
                "deadline": window.deadline or format_month(add_months(first, months - 1)),
            }
    planned = [entry for entry in entries if entry["included"]]
    for plan in signed.joint:
        _give_out(plan, planned, first)
    for part, held in _left_behind(signed, now):
        _share_out(part, held, planned, [1.0] * len(planned))
    offers: dict[str, Any] = {}
    for offer in chain.from_iterable(request.get("custom_offers") or () for request in requests):
        offers.setdefault(str(offer.get("label")), offer)
    return {
        "name": f"{team.name}: all projects"[:200],
        "start": format_month(first),
        "horizon_months": months,
        "currency": team.currency,
        "projects": entries,
        "custom_offers": list(offers.values()),
    }


def _refuse_alone_only(projects: Iterable[Project]) -> None:
    for project in projects:
        existing = compose(project).get("existing") or {}
        has = join([words for field, words in ALONE_ONLY.items() if existing.get(field)])
        if has:
            raise InvalidInput(
                "projects",
                f"{project.name} has {has}, which a joint plan cannot count; untick the project "
                f"or leave it out, and compare it by itself, or take its {has} out",
            )


class Window(NamedTuple):
    """Months within which hours may move, as they are typed; "" where a side is open."""

    start: str
    deadline: str


def first_month_to_come() -> dt.date:
    """The first month that can still be decided on."""
    return next_month(timezone.now().date())


def describe_past(projects: Iterable[Project]) -> str:
    """What the plan of some projects leaves out because it is over; "" where nothing is."""
    now, over, under_way = first_month_to_come(), [], []
    for project in projects:
        request = compose(project)
        if _is_over(request, now):
            over.append(project.name)
        elif _span(request)[0] < now:
            under_way.append(project.name)
    texts = []
    if under_way:
        what = "Months before it count as done, of"
        texts.append(f"The plan begins in {now:%B %Y}. {what} {join(under_way)}.")
    if over:
        verb = "is left out, as it ends" if len(over) == 1 else "are left out, as they end"
        texts.append(f"{join(over)} {verb} before {now:%B %Y}.")
    return " ".join(texts)


def _is_over(request: Mapping[str, Any], now: dt.date) -> bool:
    """Whether no month of its work is left: of hours by month or runs with deadlines the last of
    those, else the last month of its plan."""
    workload = request["workload"]
    hours, runs = workload.get("hours_per_month"), workload.get("runs") or ()
    deadlines = [run.get("deadline") for run in runs]
    if isinstance(hours, list | tuple) and len(hours) > 1:
        last = max((month for month, value in enumerate(hours) if value), default=0)
        return add_months(_span(request)[0], last) < now
    if deadlines and all(deadlines):
        return max(parse_month(deadline) for deadline in deadlines) < now
    return _end(request) <= now


def _end(request: Mapping[str, Any]) -> dt.date:
    return add_months(*_span(request))


def _span(request: Mapping[str, Any]) -> tuple[dt.date, int]:
    start, months = request.get("start"), read_request(request).horizon_months
    month = parse_month(start) if isinstance(start, str) else next_month(timezone.now().date())
    return month, months or DEFAULT_MONTHS


def _entry(
    request: Mapping[str, Any],
    project: Project,
    first: dt.date,
    months: int,
    held: Mapping[str, list[Request]],
) -> Request:
    constraints = {
        field: value
        for field, value in (request.get("constraints") or {}).items()
        if field not in _OF_ALL_PROJECTS
    }
    # The first month of sized work that does not begin with the plan; hours by month are put on
    # the plan's calendar instead.
    start, _ = _span(request)
    has_hours = request["workload"].get("kind") == "accelerator_hours"
    return {
        "name": project.name,
        "workload": _align(request, first, months),
        **({} if has_hours or start == first else {"start": format_month(start)}),
        "constraints": constraints,
        "data": request.get("data") or {},
        **held,
    }


def _stated(request: Mapping[str, Any]) -> dict[str, Any]:
    existing, on_prem = request.get("existing") or {}, request.get("on_prem") or {}
    return {
        "already_owned": on_prem.get("already_owned") or (),
        **{part: existing.get(part) or () for part in _CONTRACTS},
    }


class _Signed(NamedTuple):
    """The plans of a team that are or were approved, and the first month of the plan to be made."""

    team: Team
    first: dt.date
    joint: list[_JointPlan]
    alone: dict[Any, list[SavedComparison]]
    """Id of a project → its own plans, the last one first."""

    @classmethod
    def by(cls, team: Team, first: dt.date, requests: Sequence[tuple[Project, Request]]) -> _Signed:
        saved = SavedComparison.objects.filter(team=team, approved_at__isnull=False)
        alone = group([(one.project_id, one) for one in saved.order_by("-approved_at")])
        return cls(team, first, list(_joint_plans(team, requests, first)), alone)


def _holdings(
    request: Mapping[str, Any], project: Project, signed: _Signed
) -> dict[str, list[Request]]:
    """What a project states to have, and what its plans have bought or signed."""
    held = {part: list(entries) for part, entries in _stated(request).items()}
    for part, entry in _held(request, project, signed):
        held[part].append(entry)
    team = signed.team
    currency = request.get("currency") or team.currency
    if currency != team.currency and any(held[part] for part in _CONTRACTS):
        raise InvalidInput(
            "projects",
            f"{project.name} holds contracts in {currency} and the team counts in "
            f"{team.currency}; change the currency of the project to plan it with the others",
        )
    return held


def _held(
    request: Mapping[str, Any], project: Project, signed: _Signed
) -> Iterator[tuple[str, Request]]:
    """What the plans of a project, approved now or once, have bought or signed by the first month.

    An order counts if its plan was approved in its month and no later plan of the project plans
    that month anew. Where the project has since stated anew what is there, that is believed alone.
    What a joint plan for the project orders in the same month counts there, unless it was made once
    this plan was approved, and so orders more.
    """
    last = signed.first
    for saved in signed.alone.get(project.pk, ()):
        plan, approved_at = saved.read_plan(), saved.approved_at
        if saved.superseded_at is not None:
            last = min(last, saved.superseded_at.date())
        in_joint = {
            (order.source, one.answer.month(order.month))
            for one in signed.joint
            if one.answer.project(project.name) and approved_at and one.made_at < approved_at
            for order in one.orders
        }
        is_believed = _stated(request) == _stated(saved.given)
        for order in plan.recommended.purchases if plan.recommended and is_believed else ():
            month = plan.month(order.month)
            if month <= last and (order.source, month) not in in_joint:
                yield from _carry_over(project.name, plan, order, signed.first)
        last = min(last, add_months(plan.month(0), -1))


def _left_behind(signed: _Signed, now: dt.date) -> Iterator[tuple[str, Request]]:
    """What projects that are over or archived still have: servers of the reference list, and
    contracts that run on."""
    for project in Project.objects.filter(team=signed.team).order_by("created_at"):
        request = compose(project)
        if not project.workload or not (project.archived or _is_over(request, now)):
            continue
        servers = (request.get("on_prem") or {}).get("servers") or ()
        own = {"custom", *(one.get("label") for one in servers)}
        for part, entries in _holdings(request, project, signed).items():
            for entry in entries:
                runs_on = "ends" not in entry or parse_month(entry["ends"]) >= signed.first
                if runs_on and entry.get("server") not in own:
                    yield part, entry


class _JointPlan(NamedTuple):
    """A joint plan that is or was approved, with what it bought or signed while it was."""

    label: str
    made_at: dt.datetime
    answer: PortfolioAnswer
    orders: list[Purchase]


def _joint_plans(
    team: Team, requests: Iterable[tuple[Project, Request]], first: dt.date
) -> Iterator[_JointPlan]:
    """Those of a team, but for plans since which a project of theirs stated anew what is there.

    The orders of a plan end where the next begins, if that was made knowing it, and else in the
    month in which the next was approved in its stead.
    """
    now = {project.name: _stated(request) for project, request in requests}
    saved_of_team = SavedPortfolio.objects.filter(team=team, approved_at__isnull=False)
    rows = list(saved_of_team.order_by("approved_at"))
    for number, (saved, later) in enumerate(zip_longest(rows, rows[1:]), 1):
        if any(
            list(one.get(part) or ())[: len(entries)] != list(entries)
            for one in saved.request["projects"]
            for part, entries in now.get(one["name"], {}).items()
        ):
            continue
        last = first
        if later is not None:
            follows = later.created_at >= saved.approved_at
            end = parse_month(later.answer["start"]) if follows else later.approved_at.date()
            last = min(first, end)
        answer = saved.read_answer()
        orders = [order for order in answer.purchases if answer.month(order.month) <= last]
        if answer.currency != team.currency and any(one.kind != "server" for one in orders):
            raise InvalidInput(
                "projects",
                f"{saved.name} holds contracts in {answer.currency} and the team counts in "
                f"{team.currency}; state those that run under a project",
            )
        yield _JointPlan(f"Joint plan {number}", saved.created_at, answer, orders)


def _give_out(plan: _JointPlan, entries: Sequence[Request], first: dt.date) -> None:
    """Adds what a joint plan has bought or signed to projects by what each pays of that plan; to
    all alike where none of them is part of it."""
    shares = [plan.answer.project(entry["name"]) for entry in entries]
    parts = [max(share.fraction or 0.0, 0.0) if share else 0.0 for share in shares]
    for order in plan.orders:
        for part, held in _carry_over(plan.label, plan.answer, order, first):
            _share_out(part, held, entries, parts if any(parts) else [1.0] * len(parts))


def _share_out(
    part: str, held: Request, entries: Sequence[Request], weights: Sequence[float]
) -> None:
    """Adds what is there to projects in whole units, by weights."""
    sums = list(accumulate(weights, initial=0.0))
    upto = [round(held.get("units", 1) * one / (sums[-1] or 1.0)) for one in sums]
    for entry, (before, after) in zip(entries, pairwise(upto), strict=True):
        label = {"label": f"{held['label']}, {entry['name']}"} if "label" in held else {}
        if after > before:
            entry[part].append({**held, **label, "units": after - before})


def _carry_over(
    name: str, plan: SavedPlan | PortfolioAnswer, order: Purchase, first: dt.date
) -> Iterator[tuple[str, Request]]:
    """An order as what is there: servers of the reference list count as in place from their order,
    commitments until their term ends."""
    month, offer, units = plan.month(order.month), plan.offers.get(order.source), int(order.units)
    server = next((one for one in plan.servers if one.key == order.source), None)
    if server and server.price_source != "request" and not order.due_per_month:
        name = order.source.removeprefix("server:")
        bought = format_month(month)
        yield "already_owned", {"server": name, "units": units, "bought": bought}
    elif offer and offer.term_months:
        ends = add_months(month, offer.term_months - 1)
        if ends >= first:
            signed = {
                "label": f"{name}: {order.label}, {format_month(month)}",
                **offer.model_dump(include=_OF_MACHINE),
                "units": units,
                "price_per_month": f"{(order.due_per_month or 0) / units:.2f}",
                "ends": format_month(ends),
            }
            yield "commitments", signed


def _align(request: Mapping[str, Any], first: dt.date, months: int) -> Request:
    """The workload with hours by month of the common calendar: 0 outside its own months, nothing of
    those that are over."""
    workload = dict(request["workload"])
    if workload.get("kind") != "accelerator_hours":
        return workload
    start, own = _span(request)
    before = count_months(first, start)
    for field in ("hours_per_month", "peak_accelerators"):
        value = workload.get(field)
        if value is None:
            continue
        by_month = list(value) if isinstance(value, list | tuple) else [value]
        by_month = by_month * own if len(by_month) == 1 else by_month
        row = [0] * before + by_month[max(-before, 0) :] + [0] * months
        workload[field] = row[:months]
    return workload

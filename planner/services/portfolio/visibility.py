"""Who sees what of a portfolio that a team keeps."""

from __future__ import annotations

from collections.abc import Iterable

from planner.contract.answer.portfolio import (
    PortfolioAnswer,
    PortfolioChange,
    PortfolioRepricing,
    ProjectShare,
)
from planner.models import Access, Alert, Role, SavedPortfolio, Team
from planner.portfolio.words import explain_share, hide_others
from pricing.common.invalid_input import InvalidInput


def check_may_show(access: Access, team: Team) -> None:
    """Refuses to show all shares to every member where somebody may not see them themselves."""
    if not access.has_role(team.pk, Role.APPROVER):
        raise InvalidInput(
            "shown_to_all", "shows members what others pay; an approver or an owner may tick it"
        )


def sees_all(access: Access, saved: SavedPortfolio) -> bool:
    """Whether somebody sees the shares of all projects: approvers and owners of the team, who
    wrote the request themselves, and everybody where it is shown to all."""
    is_approver = access.has_role(saved.team_id, Role.APPROVER)
    is_author = saved.created_key == access.person and not saved.owners
    return is_approver or saved.shown_to_all or is_author


def visible_answer(
    access: Access, saved: SavedPortfolio, answer: PortfolioAnswer | None = None
) -> PortfolioAnswer:
    """The saved answer, or another one to its request, as somebody may see it: all of it, or the
    shares of their own projects alone."""
    shown = saved.read_answer() if answer is None else answer
    if sees_all(access, saved):
        return shown
    return show_only(shown, own_projects(access, saved))


def show_only(answer: PortfolioAnswer, names: Iterable[str]) -> PortfolioAnswer:
    """What the projects of these names may know: their own shares, uses and lines, and nothing
    from which the figures of others could be worked out."""
    own = set(names)
    projects = tuple(_only_own(answer, one) for one in answer.projects if one.name in own)
    return answer.model_copy(
        update={
            "headline": "You see the shares of your own projects."
            if projects
            else "None of these projects is yours, so that you see no share.",
            "why_not": (),
            "why_no_range": answer.why_no_range if answer.range is None else _RANGE_OF_ALL,
            "warnings": (),
            "projects": projects,
            "uses": tuple(use for use in answer.uses if use.project in own),
            "uses_by_kind": tuple(
                hide_others(use) for use in answer.uses_by_kind if use.project in own
            ),
            "write_off": tuple(row for row in answer.write_off if row.project in own),
            "lines": tuple(line for line in answer.lines if line.project in own),
            **_used_machines(answer, own),
            "cash_per_month": (),
            "cost_by_category": {},
            "purchases": (),
            "in_service": (),
            "better_apart": (),
            **dict.fromkeys(_TOTALS),
        }
    )


_RANGE_OF_ALL = "It is shown with the total, to those who see the shares of all projects."
_TOTALS = (
    *("net_present_cost", "total_cost", "range", "apart", "apart_total", "saving"),
    *("saving_fraction", "next_order", "capital_to_approve", "resale", "utilisation"),
    *("cost_of_waiting", "gap"),
)


_OF_ALL = ("without", "adds", "fraction", "shared_fraction")
"""Of a project's own figures those from which the plan of all could be worked out."""


def _only_own(answer: PortfolioAnswer, one: ProjectShare) -> ProjectShare:
    own = one.model_copy(update=dict.fromkeys(_OF_ALL))
    return own.model_copy(update={"explanation": explain_share(answer, own)})


def _used_machines(answer: PortfolioAnswer, names: set[str]) -> dict[str, object]:
    """What is known of the machines that some projects use."""
    used = {use.source for use in answer.uses if use.project in names}
    return {
        "machines": tuple(machine for machine in answer.machines if machine.source in used),
        "offers": {key: offer for key, offer in answer.offers.items() if key in used},
        "servers": tuple(server for server in answer.servers if server.key in used),
    }


def visible_changes(
    access: Access, saved: SavedPortfolio, changes: Iterable[PortfolioChange]
) -> list[PortfolioChange]:
    """Those that somebody may see: all, or those of their own projects."""
    everything = sees_all(access, saved)
    return [one for one in changes if everything or one.project in own_projects(access, saved)]


def own_projects(access: Access, saved: SavedPortfolio) -> set[str]:
    """Names of the projects that somebody made."""
    return {name for name, person in saved.owners.items() if person == access.person}


def visible_repricing(access: Access, saved: SavedPortfolio) -> PortfolioRepricing | None:
    """What later prices changed, of what somebody may see; None before it was first repriced."""
    if saved.repriced is None:
        return None
    repriced = PortfolioRepricing.model_validate(saved.repriced)
    changes = tuple(visible_changes(access, saved, repriced.changes))
    return repriced.model_copy(update={"changes": changes})


def visible_alert(access: Access, alert: Alert) -> Alert:
    """An alert as somebody may see it: of a portfolio that they do not see all of, that something
    moved, and no total and no offer of other projects."""
    if alert.saved_portfolio is not None and not sees_all(access, alert.saved_portfolio):
        alert.before = alert.after = ""
        alert.causes = []
    return alert

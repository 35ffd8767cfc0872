"""The board pack of a plan: its answer as a PDF."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from planner.exports.rows import Context
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.board_pack import PackFacts, board_pack
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.plan_request import answer_plan
from planner.web.common.query_codec import drop_empty

CONTENT_TYPE = "application/pdf"


@open_page
@require_safe
def pack(request: HttpRequest) -> HttpResponse:
    """The PDF; the plan's page where its request is refused, or waits for more."""
    query = drop_empty(request.GET, "edit", "scenario")
    outcome = answer_plan(query, current_team(request))
    page_address = f"{reverse('plan')}?{query.urlencode()}"
    if not outcome.has_answer:
        return HttpResponseRedirect(page_address)
    page = AnswerPage(outcome.answer, query=query)
    facts = PackFacts(
        printed=timezone.now().date(),
        author=author_of(request),
        address=request.build_absolute_uri(page_address),
        context=Context(name=page.title),
    )
    return as_download(board_pack(page, facts), facts)


def author_of(request: HttpRequest) -> str:
    """Who prints it; nobody's name where nobody is signed in."""
    user = request.user
    return (user.get_full_name() or user.get_username()) if user.is_authenticated else ""


def as_download(paper: bytes, facts: PackFacts) -> HttpResponse:
    """The file, named after what it is of."""
    name = f"{slugify(facts.title)[:60] or 'plan'}.pdf"
    disposition = content_disposition_header(as_attachment=True, filename=name)
    headers = {"Content-Disposition": disposition} if disposition else {}
    return HttpResponse(paper, content_type=CONTENT_TYPE, headers=headers)

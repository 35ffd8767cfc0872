"""The page of a plan: the form that asks for it, the answer, its printed pack.

The page of an answer is sent in two parts: what is advised is sent while the rest is computed.
Both parts are of one template, drawn twice and cut at `REST`. The first is drawn before anything
is sent, so that what is refused or fails until then has its own status.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    QueryDict,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.text import StreamingBuffer
from django.views.decorators.http import require_safe

from planner.contract.labels import SCENARIO_TITLES, comes_first
from planner.exports import Format
from planner.exports.csv_export import Context
from planner.exports.saved_context import offer_file
from planner.services.observability import logs
from planner.services.projects.comparisons import ComparisonOutcome
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumptions import Message, messages_of
from planner.web.answer.board_pack import PackFacts, board_pack
from planner.web.common import plan_request
from planner.web.common.fields import in_field_unit, with_labels
from planner.web.common.plan_request import answer_plan, answer_plan_in_steps, spread_rest
from planner.web.common.query_codec import drop_empty, with_start
from planner.web.common.views import current_team, describe_refusal, open_page
from planner.web.plan.forms import WORKS, PlanForm, begin
from planner.web.plan.start import list_presets
from pricing.common.invalid_input import InvalidInput

PageContext = dict[str, Any]
REST = "<!-- the rest of the answer -->"
Draw = Callable[[ComparisonOutcome, str], str]
"""The whole page of an outcome; with a word of what went wrong, or `OPENING`, without the rest."""
OPENING = "opening"
OURS = "The error is ours and has been logged under {}. Load the page again."
logger = logging.getLogger(__name__)


@open_page
@require_safe
def plan(request: HttpRequest) -> HttpResponseBase:
    address, refused = drop_empty(request.GET), ComparisonOutcome({})
    try:
        query = with_start(spread_rest(address))
    except InvalidInput as refusal:
        query, refused = address, ComparisonOutcome({}, errors=refusal.all())
    team = current_team(request)
    if "work" in query or ("workload.kind" not in query and not refused.errors):
        initial = begin(query, team.currency if team else "USD")
        context = _form_context(initial, ComparisonOutcome({}))
        return render(request, "web/plan/form_page.html", context)
    is_update = bool(getattr(request, "htmx", False)) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    if query.urlencode() != request.GET.urlencode() and not is_update:
        return HttpResponseRedirect(_page_url(query))
    shows_form = "edit" in query or any(name.startswith("rows.") for name in query)
    missing_rates = plan_request.find_missing_rates(query, team)
    if is_update and missing_rates:
        return _to_whole_page(query)
    named = plan_request.name_rates(query, team)
    if named is not query and not is_update:
        return HttpResponseRedirect(_page_url(named))
    steps = answer_plan_in_steps(query, team, brief=shows_form) if not refused.errors else iter([])
    first = next(steps, refused)
    if is_update:
        *_, whole = first, *steps
        return _edited(request, query, whole)
    more = {"missing_rates": missing_rates}
    if first.result and not shows_form:

        def draw(outcome: ComparisonOutcome, problem: str) -> str:
            context = answer_context(query, outcome) | more | {"problem": problem}
            return render_to_string("web/plan/answer.html", context, request)

        return _send_in_parts(request, chain([first], steps), draw)
    status = 400 if first.errors else 200
    context = _form_context(query, first) | more
    return render(request, "web/plan/form_page.html", context, status=status)


def _send_in_parts(
    request: HttpRequest, steps: Iterator[ComparisonOutcome], draw: Draw
) -> StreamingHttpResponse:
    """The page as `draw` draws it: until `REST` of the first step, then of the last."""
    first = next(steps)
    opening = draw(first, OPENING).partition(REST)[0]
    reference: str = request.request_id  # type: ignore[attr-defined]

    def finish() -> str:
        try:
            *_, whole = first, *steps
            problem = "; ".join(map(describe_refusal, whole.errors))
            return draw(first, problem) if problem else draw(whole, "")
        except Exception:
            with logs.use_request_id(reference):
                logger.exception("The rest of an answer failed.")
            return draw(first, OURS.format(reference))

    def parts() -> Iterator[str]:
        yield opening
        yield finish().partition(REST)[2]

    response = StreamingHttpResponse(parts())
    response["X-Accel-Buffering"] = "no"  # A proxy passes each part on at once.
    patch_vary_headers(response, ("Accept-Encoding",))
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response["Content-Encoding"] = "gzip"
        response.streaming_content = _compress(parts())
    return response


def _compress(parts: Iterator[str]) -> Iterator[bytes]:
    """What the framework's own middleware does, but each part sent when it is there."""
    buffer = StreamingBuffer()
    with gzip.GzipFile(mode="wb", compresslevel=6, fileobj=buffer, mtime=0) as file:
        for part in parts:
            file.write(part.encode())
            file.flush()
            yield buffer.read()
    yield buffer.read()


def _edited(request: HttpRequest, query: QueryDict, outcome: ComparisonOutcome) -> HttpResponse:
    """What a change in place made of the answer, or why it cannot be used."""
    if outcome.result:
        answer = render(request, "web/answer/edited.html", answer_context(query, outcome))
        answer["HX-Push-Url"] = _page_url(query)
        return answer
    if not outcome.errors:
        return _to_whole_page(query)
    errors = [Message(one.field, in_field_unit(one.field, one.message)) for one in outcome.errors]
    context = {"rows": messages_of(request.GET, outcome.errors), "refusals": errors}
    answer = render(request, "web/answer/refused.html", context)
    answer["HX-Reswap"] = "none"
    return answer


@open_page
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    query = drop_empty(request.GET)
    team = current_team(request)
    outcome = next(answer_plan_in_steps(query, team, brief=True))
    missing_rates = plan_request.find_missing_rates(query, team)
    context = _live_context(outcome) | {"missing_rates": missing_rates}
    return render(request, "web/plan/live.html", context)


def _page_url(query: QueryDict) -> str:
    return f"{reverse('plan')}?{query.urlencode()}"


def _to_whole_page(query: QueryDict) -> HttpResponse:
    return HttpResponse(headers={"HX-Redirect": _page_url(query)})


def answer_context(query: QueryDict, outcome: ComparisonOutcome) -> PageContext:
    own = {"inherits": False} if outcome.inherited else {}
    shared = {**outcome.resolved_request, **own}
    at_list_prices = plan_request.build_pinned_query(outcome.request, outcome.answer)
    return {
        "outcome": outcome,
        "page": AnswerPage(outcome.answer, query.get("scenario", ""), query),
        "address": drop_empty(query, "scenario").urlencode(),
        "share": f"{reverse('plan')}?{plan_request.build_pinned_query(shared, outcome.answer)}",
        "inherited": outcome.inherited,
        "share_at_list_prices": f"{reverse('plan')}?{at_list_prices}",
        "newer_prices": plan_request.find_newer_prices(query),
        "todays": drop_empty(query, plan_request.PRICES, "scenario").urlencode(),
        "titles": SCENARIO_TITLES,
    }


def _form_context(query: QueryDict, outcome: ComparisonOutcome) -> PageContext:
    form = PlanForm(query, outcome.errors)
    boxes = {"questions": form.questions(), "subjects": form.subjects(), "groups": form.groups()}
    return (
        boxes
        | _live_context(outcome)
        | {
            "form": form,
            "rest": form.rest(),
            "rest_fields": form.rest_fields(),
            "works": WORKS,
            "presets": list_presets(timezone.now().date()),
        }
    )


def _live_context(outcome: ComparisonOutcome) -> PageContext:
    answer = outcome.result
    warnings = filter(comes_first, answer.warnings) if answer else ()
    return {
        "outcome": outcome,
        "so_far": with_labels(answer.headline) if answer else "",
        "first_warnings": [with_labels(one) for one in warnings],
    }


PDF = Format("pdf", "application/pdf", board_pack, "PDF")


@open_page
@require_safe
def pack(request: HttpRequest) -> HttpResponse:
    """The PDF; the plan's page where its request is refused, or waits for more."""
    query = drop_empty(request.GET, "edit", "scenario")
    outcome = answer_plan(query, current_team(request))
    page_address = _page_url(query)
    if not outcome.result:
        return HttpResponseRedirect(page_address)
    page = AnswerPage(outcome.answer, query=query)
    facts = PackFacts(
        printed=timezone.now().date(),
        author=author_of(request),
        address=request.build_absolute_uri(page_address),
        context=Context(name=page.title),
        is_named=bool(outcome.answer.name),
    )
    return offer_file(board_pack(page, facts), facts.title, PDF)


def author_of(request: HttpRequest) -> str:
    user = request.user
    return (user.get_full_name() or user.get_username()) if user.is_authenticated else ""

"""Variants of a plan side by side. The address holds them; the visit remembers what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.services.fair_use.addresses import client_address
from planner.services.fair_use.rates import may_store
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.query_codec import drop_empty
from planner.web.plan import whose_rates
from planner.web.plan.variants import (
    MOST,
    NAMES,
    answer_plans,
    build_charts,
    changed_fields,
    total_rows,
)

_SESSION_KEY = "variants"
MAX_ADDRESS = 8_000
"""Longest address of a plan that is kept, characters: what browsers and servers pass on."""


@open_page
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Up to four plans in columns; without any in the address, those that were kept."""
    addresses = [request.GET[name] for name in NAMES if request.GET.get(name, "").strip()]
    if not addresses and request.session.get(_SESSION_KEY):
        return HttpResponseRedirect(_page_url(request.session[_SESSION_KEY]))
    team = current_team(request)
    named = [whose_rates.name_rates(QueryDict(one), team).urlencode() for one in addresses]
    if [QueryDict(one) for one in addresses] != [QueryDict(one) for one in named]:
        return HttpResponseRedirect(_page_url(named))
    plans = answer_plans(addresses, team)
    context = {
        "variants": [
            {
                "one": one,
                "without": _page_url([a for a in addresses if a != one.address]),
                "cost": one.best,
            }
            for one in plans
        ],
        "rows": total_rows(plans) if plans else [],
        "changed": changed_fields(plans),
        "charts": build_charts(plans),
        "most": MOST,
        "is_full": len(plans) == MOST,
        "missing_rates": whose_rates.find_missing_rates_of_several(addresses, team, _page_url),
        "rates_of": team if any(one.outcome.inherited for one in plans) else None,
    }
    return render(request, "web/compare.html", context)


def _page_url(addresses: Sequence[str]) -> str:
    pairs = list(zip(NAMES, addresses, strict=False))
    return f"{reverse('compare')}?{urlencode(pairs)}" if pairs else reverse("compare")


@open_page
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Puts a plan beside those kept before; the oldest goes where there are four."""
    plan = drop_empty(QueryDict(request.POST.get("plan", "")), "edit", "scenario").urlencode()
    if not plan or len(plan) > MAX_ADDRESS:
        messages.error(request, "This plan cannot be added: its URL is too long.")
        return HttpResponseRedirect(reverse("compare"))
    if not may_store(client_address(request.META), len(plan)):
        messages.error(request, "Many plans were added within a minute; add it in the next one.")
        return HttpResponseRedirect(reverse("compare"))
    others = [one for one in request.session.get(_SESSION_KEY, []) if one != plan]
    request.session[_SESSION_KEY] = [*others, plan][-MOST:]
    return HttpResponseRedirect(_page_url(request.session[_SESSION_KEY]))


@open_page
@require_POST
def clear(request: HttpRequest) -> HttpResponse:
    """Forgets what was kept."""
    request.session.pop(_SESSION_KEY, None)
    return HttpResponseRedirect(reverse("compare"))

"""Variants of a plan side by side. The address holds them; the visit remembers what was kept."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.query_codec import tidied
from planner.web.plan.variants import (
    MOST,
    NAMES,
    changed_fields,
    charts_of,
    total_rows,
    variants_of,
)

_KEPT = "variants"
MAX_ADDRESS = 8_000
"""Longest address of a plan that is kept, characters: what browsers and servers pass on."""


@open_page
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Up to four plans in columns; without any in the address, those that were kept."""
    addresses = [request.GET[name] for name in NAMES if request.GET.get(name, "").strip()]
    if not addresses and request.session.get(_KEPT):
        return HttpResponseRedirect(_address(request.session[_KEPT]))
    variants = variants_of(addresses, current_team(request))
    context = {
        "variants": [
            {
                "one": one,
                "without": _address([a for a in addresses if a != one.address]),
                "cost": one.best,
            }
            for one in variants
        ],
        "rows": total_rows(variants) if variants else [],
        "changed": changed_fields(variants),
        "charts": charts_of(variants),
        "most": MOST,
        "is_full": len(variants) == MOST,
    }
    return render(request, "web/compare.html", context)


def _address(addresses: list[str]) -> str:
    pairs = list(zip(NAMES, addresses, strict=False))
    return f"{reverse('compare')}?{urlencode(pairs)}" if pairs else reverse("compare")


@open_page
@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Puts a plan beside those kept before; the oldest goes where there are four."""
    plan = tidied(QueryDict(request.POST.get("plan", "")), "edit", "scenario").urlencode()
    if not plan or len(plan) > MAX_ADDRESS:
        messages.error(request, "This plan cannot be put side by side: its address is too long.")
        return HttpResponseRedirect(reverse("compare"))
    kept = [one for one in request.session.get(_KEPT, []) if one != plan]
    request.session[_KEPT] = [*kept, plan][-MOST:]
    return HttpResponseRedirect(_address(request.session[_KEPT]))


@open_page
@require_POST
def clear(request: HttpRequest) -> HttpResponse:
    """Forgets what was kept."""
    request.session.pop(_KEPT, None)
    return HttpResponseRedirect(reverse("compare"))

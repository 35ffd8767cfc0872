"""The audit log: who changed what, from what to what."""

from __future__ import annotations

import json
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.models import AuditEntry, Team
from planner.web.common.query_codec import write
from planner.web.common.view_helpers import team_page

ROWS_OF_A_PAGE = 50
_LONGEST = 300


@team_page()
@require_safe
def log(request: HttpRequest, team: Team) -> HttpResponse:
    """Newest first; `action` and `actor` narrow it."""
    entries = AuditEntry.objects.filter(team=team)
    actions = sorted(entries.order_by().values_list("action", flat=True).distinct())
    if action := request.GET.get("action"):
        entries = entries.filter(action=action)
    if actor := request.GET.get("actor"):
        entries = entries.filter(actor__icontains=actor)
    page = Paginator(entries, ROWS_OF_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "team": team,
        "actions": actions,
        "page": page,
        "rows": [{"entry": entry, "changes": list_changes(entry)} for entry in page],
        "action": action or "",
        "actor": actor or "",
        "older": write(request.GET, page=page.number + 1) if page.has_next() else "",
        "newer": write(request.GET, page=page.number - 1) if page.has_previous() else "",
    }
    return render(request, "team/audit.html", context)


def list_changes(entry: AuditEntry) -> list[dict[str, str]]:
    """Field by field: from what to what."""
    return [
        {
            "field": name,
            "before": _text(entry.before.get(name)),
            "after": _text(entry.after.get(name)),
        }
        for name in {**entry.before, **entry.after}
    ]


def _text(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

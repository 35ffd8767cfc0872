"""Accelerators and servers side by side, with the source of every value."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.web.common.access import open_page
from planner.web.market.hardware_list import (
    PRICES,
    ROWS,
    USES,
    HardwareQuery,
    hardware_rows,
    list_hardware,
)
from pricing import catalog
from pricing.common.invalid_input import InvalidInput

COMPARED_AT_MOST = 4


@open_page
@require_safe
def hardware(request: HttpRequest) -> HttpResponse:
    """Accelerators and servers that the address asks for; with `compare`, up to four accelerators
    in columns."""
    ticked = request.GET.getlist("compare")
    chosen = ticked[:COMPARED_AT_MOST]
    rows = hardware_rows(catalog.current())
    known = {row.accelerator.slug: row for row in rows}
    context: dict[str, Any] = {
        "query": request.GET,
        "uses": USES,
        "prices": PRICES,
        "every": len(rows),
        "first_rows": ROWS,
        "compared": [known[slug] for slug in chosen if slug in known],
        "chosen": chosen,
        "most": COMPARED_AT_MOST,
        "left_out": len(ticked) - len(chosen),
    }
    try:
        query = HardwareQuery.read(request.GET)
    except InvalidInput as refusal:
        query = HardwareQuery()
        context["refusal"] = refusal
    context |= {"asked": query, "listed": list_hardware(rows, query, chosen)}
    status = 400 if "refusal" in context else 200
    return render(request, "web/hardware.html", context, status=status)

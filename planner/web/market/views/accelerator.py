"""One accelerator: who sells it, at what price in each way of paying, and how prices moved."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.web.common.access import open_page
from planner.web.common.coverage_table import arrange_coverage
from planner.web.market.accelerator_prices import WAYS, draw_past_prices, list_providers
from planner.web.market.effective_tflops import effective_tflops
from pricing import catalog
from pricing.market.accelerators import get
from pricing.market.offer_filters import OfferSearch
from pricing.offer_search import search_coverage


@open_page
@require_safe
def accelerator(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        device = get(slug)
    except KeyError:
        raise Http404("No accelerator has this name.") from None
    known = catalog.current()
    rows = list_providers(device, known)
    sold = OfferSearch(accelerator=(device.slug,), sold_now=True)
    context = {
        "accelerator": device,
        "effective_tflops": effective_tflops(device),
        "plan_address": urlencode(
            {"workload.kind": "accelerator_hours", "workload.accelerator": device.slug, "edit": 1}
        ),
        "ways": WAYS,
        "rows": rows,
        "count": sum(row.count for row in rows),
        "chart": draw_past_prices(rows, timezone.now().date()),
        "coverage": arrange_coverage(search_coverage(sold, known.offers)),
    }
    return render(request, "web/accelerator.html", context)

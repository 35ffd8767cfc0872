"""What every page needs: navigation, colours, and how fresh the prices are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from planner.unsent_mail import UNSENT
from planner.web.common.choices import provider_title
from pricing.freshness import freshness
from pricing.market.places import MARKETPLACES, OTHER_CLOUDS, find_partition

THEMES = ("light", "dark")


@dataclass(frozen=True)
class NavigationItem:
    title: str
    url: str
    active: bool


def _navigation(request: HttpRequest) -> list[NavigationItem]:
    pages = [
        ("Plan", reverse("plan")),
        ("Market", reverse("market")),
        ("Hardware", reverse("hardware")),
    ]
    if getattr(request, "user", None) and request.user.is_authenticated:
        pages.append(("Team", reverse("team")))
    pages += [("Method", reverse("method")), ("API", reverse("api:docs"))]
    return [NavigationItem(t, url, request.path.startswith(url)) for t, url in pages]


def _freshness() -> list[dict[str, Any]]:
    """Of the clouds that a plan chooses from by itself, beside the market's own page of all. Asked
    for by the whole page alone, not by its fragments."""
    return [
        {"row": row, "title": provider_title(row.provider)}
        for row in freshness()
        if find_partition(row.provider, "") not in (OTHER_CLOUDS, MARKETPLACES)
    ]


def page(request: HttpRequest) -> dict[str, Any]:
    """Context of every template; no theme where the visitor's system decides."""
    theme = request.COOKIES.get("theme", "")
    return {
        "theme": theme if theme in THEMES else "",
        "navigation": _navigation(request),
        "freshness": _freshness,
        "sends_mail": settings.EMAIL_BACKEND != UNSENT,
    }

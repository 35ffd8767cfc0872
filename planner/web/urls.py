"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from planner.web.views import hardware, market, plan, site

urlpatterns = [
    path("", site.start, name="start"),
    path("plan/", plan.plan, name="plan"),
    path("plan/live/", plan.live, name="plan-live"),
    path("market/", market.market, name="market"),
    path("market/offer/", market.offer, name="market-offer"),
    path("market/changes/", market.changes, name="market-changes"),
    path("hardware/", hardware.hardware, name="hardware"),
    path("method/", site.method, name="method"),
    path("theme/", site.theme, name="theme"),
]

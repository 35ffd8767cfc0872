"""Addresses of the pages."""

from __future__ import annotations

from django.urls import include, path

from planner.web.views import calibrate, hardware, market, plan, site

urlpatterns = [
    path("", site.start, name="start"),
    path("plan/", plan.plan, name="plan"),
    path("plan/live/", plan.live, name="plan-live"),
    path("market/", market.market, name="market"),
    path("market/offer/", market.offer, name="market-offer"),
    path("market/changes/", market.changes, name="market-changes"),
    path("hardware/", hardware.hardware, name="hardware"),
    path("calibrate/", calibrate.calibrate, name="calibrate"),
    path("method/", site.method, name="method"),
    path("theme/", site.theme, name="theme"),
    path("", include("planner.web.team.urls")),
]

"""Addresses of the pages."""

from __future__ import annotations

from django.urls import include, path

from planner.web.views import (
    accelerators,
    calibrate,
    compare,
    futures,
    hardware,
    market,
    plan,
    site,
)

urlpatterns = [
    path("", site.start, name="start"),
    path("plan/", plan.plan, name="plan"),
    path("plan/live/", plan.live, name="plan-live"),
    path("plan/accelerators/", accelerators.accelerators, name="plan-accelerators"),
    path("plan/futures/", futures.start, name="futures-start"),
    path("plan/futures/<uuid:pk>/", futures.show, name="futures"),
    path("plan/futures/<uuid:pk>/cancel/", futures.cancel, name="futures-cancel"),
    path("compare/", compare.compare, name="compare"),
    path("compare/keep/", compare.keep, name="compare-keep"),
    path("compare/clear/", compare.clear, name="compare-clear"),
    path("market/", market.market, name="market"),
    path("market/offer/", market.offer, name="market-offer"),
    path("market/changes/", market.changes, name="market-changes"),
    path("hardware/", hardware.hardware, name="hardware"),
    path("calibrate/", calibrate.calibrate, name="calibrate"),
    path("method/", site.method, name="method"),
    path("theme/", site.theme, name="theme"),
    path("", include("planner.web.team.urls")),
]

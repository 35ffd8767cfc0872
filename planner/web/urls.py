"""Addresses of the pages."""

from __future__ import annotations

from django.urls import include, path

from planner.web import site
from planner.web.market.views import accelerator, hardware, market
from planner.web.plan.views import (
    accelerators,
    calibrate,
    compare,
    pack,
    plan,
    samples,
    serving,
    usage,
)

urlpatterns = [
    path("", site.start, name="start"),
    path("plan/", plan.plan, name="plan"),
    path("plan/pack/", pack.pack, name="plan-pack"),
    path("plan/serving/", serving.serving, name="plan-serving"),
    path("plan/total/", plan.total, name="plan-total"),
    path("plan/live/", plan.live, name="plan-live"),
    path("plan/accelerators/", accelerators.accelerators, name="plan-accelerators"),
    path("plan/samples/", samples.start, name="samples-start"),
    path("plan/samples/<uuid:pk>/", samples.show, name="samples"),
    path("plan/futures/<uuid:pk>/", samples.show),  # former path of the page above
    path("plan/samples/<uuid:pk>/cancel/", samples.cancel, name="samples-cancel"),
    path("compare/", compare.compare, name="compare"),
    path("compare/add/", compare.add, name="compare-add"),
    path("compare/clear/", compare.clear, name="compare-clear"),
    path("market/", market.market, name="market"),
    path("market/accelerator/<slug:slug>/", accelerator.accelerator, name="market-accelerator"),
    path("market/offer/", market.offer, name="market-offer"),
    path("market/changes/", market.changes, name="market-changes"),
    path("hardware/", hardware.hardware, name="hardware"),
    path("calibrate/", calibrate.calibrate, name="calibrate"),
    path("usage/", usage.usage, name="usage"),
    path("method/", site.method, name="method"),
    path("theme/", site.theme, name="theme"),
    path("", include("planner.web.team.urls")),
]

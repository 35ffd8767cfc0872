"""Addresses of the pages."""

from __future__ import annotations

from django.urls import include, path

from planner.web.market import accelerator, market_pages
from planner.web.plan import accelerators, plan_page, start, usage
from planner.web.team import portfolio

urlpatterns = [
    path("", plan_page.plan, name="start"),
    path("plan/", plan_page.plan, name="plan"),
    path("plan/pack/", plan_page.pack, name="plan-pack"),
    path("plan/live/", plan_page.live, name="plan-live"),
    path("plan/accelerators/", accelerators.accelerators, name="plan-accelerators"),
    path("market/", market_pages.market, name="market"),
    path("market/offers.csv", market_pages.market_csv, name="market-csv"),
    path("market/accelerator/<slug:slug>/", accelerator.accelerator, name="market-accelerator"),
    path("market/offer/", market_pages.offer, name="market-offer"),
    path("market/changes/", market_pages.changes, name="market-changes"),
    path("usage/", usage.usage, name="usage"),
    path("usage/plan/", portfolio.plan_usage, name="usage-plan"),
    path("method/", start.method, name="method"),
    path("theme/", start.theme, name="theme"),
    path("", include("planner.web.team.urls")),
]

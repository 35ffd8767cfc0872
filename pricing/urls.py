"""The market's addresses under /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path

from pricing import api

urlpatterns: list[URLPattern] = [
    path("offers/", api.OffersView.as_view(), name="offers"),
    path("price-history/", api.PriceHistoryView.as_view(), name="price-history"),
    path("accelerators/", api.AcceleratorsView.as_view(), name="accelerators"),
    path("accelerators/<str:name>/", api.AcceleratorView.as_view(), name="accelerator"),
    path("revisions/", api.RevisionsView.as_view(), name="revisions"),
    path("revisions/<str:provider>/<int:number>/", api.RevisionView.as_view(), name="revision"),
    path("refresh-runs/", api.RefreshRunsView.as_view(), name="refresh-runs"),
    path("freshness/", api.FreshnessView.as_view(), name="freshness"),
    path("exchange-rates/", api.ExchangeRatesView.as_view(), name="exchange-rates"),
    path("regions/", api.RegionsView.as_view(), name="regions"),
]

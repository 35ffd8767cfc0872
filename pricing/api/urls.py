"""The market's addresses under /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path

from pricing.api import views

urlpatterns: list[URLPattern] = [
    path("offers/", views.OffersView.as_view(), name="offers"),
    path("price-history/", views.PriceHistoryView.as_view(), name="price-history"),
    path("accelerators/", views.AcceleratorsView.as_view(), name="accelerators"),
    path("accelerators/<str:name>/", views.AcceleratorView.as_view(), name="accelerator"),
    path("revisions/", views.RevisionsView.as_view(), name="revisions"),
    path("revisions/<str:provider>/<int:number>/", views.RevisionView.as_view(), name="revision"),
    path("refresh-runs/", views.RefreshRunsView.as_view(), name="refresh-runs"),
    path("freshness/", views.FreshnessView.as_view(), name="freshness"),
    path("catalog/", views.CatalogView.as_view(), name="catalog"),
    path("coverage/", views.CoverageView.as_view(), name="coverage"),
    path("exchange-rates/", views.ExchangeRatesView.as_view(), name="exchange-rates"),
    path("regions/", views.RegionsView.as_view(), name="regions"),
]

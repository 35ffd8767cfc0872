"""The market's addresses under /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path

from pricing.api import views
from pricing.api import views as catalog_view
from pricing.api import views as price_state

urlpatterns: list[URLPattern] = [
    path("offers/", views.OffersView.as_view(), name="offers"),
    path("price-history/", views.PriceHistoryView.as_view(), name="price-history"),
    path("accelerators/", views.AcceleratorsView.as_view(), name="accelerators"),
    path("accelerators/<str:name>/", views.AcceleratorView.as_view(), name="accelerator"),
    path("revisions/", views.RevisionsView.as_view(), name="revisions"),
    path("revisions/<str:provider>/<int:number>/", views.RevisionView.as_view(), name="revision"),
    path("refresh-runs/", views.RefreshRunsView.as_view(), name="refresh-runs"),
    path("freshness/", price_state.FreshnessView.as_view(), name="freshness"),
    path("catalog/", catalog_view.CatalogView.as_view(), name="catalog"),
    path("coverage/", price_state.CoverageView.as_view(), name="coverage"),
    path("exchange-rates/", views.ExchangeRatesView.as_view(), name="exchange-rates"),
    path("regions/", views.RegionsView.as_view(), name="regions"),
]

"""Addresses of the site: API, pages of teams, sign-in, administration, pages for everybody."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler500 = "planner.web.middleware.server_error"
urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("planner.web.urls")),
    path("api/v1/", include("pricing.api.urls")),
    path("api/v1/", include("planner.api.urls")),
]

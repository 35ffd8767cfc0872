"""Addresses of the team's pages. A team is named by its slug, everything else by its id."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, register_converter

from planner.exports import FORMATS, address_format
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.web.team import operator, portfolio, prices, projects, row_actions, saved, settings

Routes = list[URLPattern | URLResolver]
register_converter(address_format(FORMATS), "page_export")
register_converter(address_format(PORTFOLIO_FORMATS), "page_portfolio_export")

_team: Routes = [
    path("", projects.dashboard, name="dashboard"),
    path("portfolio/", portfolio.portfolio, name="portfolio"),
    path("prices/", prices.prices, name="team-prices"),
    path("prices/quotes/<uuid:pk>/", prices.prices, name="quote"),
    path("settings/", settings.settings, name="team-settings"),
    path("projects/new/", projects.new, name="project-new"),
    path("projects/<uuid:pk>/", projects.project, name="project"),
    path("projects/<uuid:pk>/completion/", projects.completion, name="project-completion"),
    path("projects/<uuid:pk>/edit/", projects.edit, name="project-edit"),
    path("<str:rows>/<uuid:pk>/<str:action>/", row_actions.act, name="act"),
]

_comparison = [
    path("", saved.comparison, name="comparison"),
    path("since/", saved.since, name="comparison-since"),
    path("pack/", saved.pack, name="comparison-pack"),
    path("export/<page_export:form>/", saved.export, name="comparison-export"),
]

_saved_portfolio = [
    path("", portfolio.saved_portfolio, name="saved-portfolio"),
    path("export/<page_portfolio_export:form>/", portfolio.export, name="saved-portfolio-export"),
]

urlpatterns = [
    path("team/", projects.home, name="team"),
    path("teams/new/", projects.new_team, name="team-new"),
    path("team/<slug:slug>/", include(_team)),
    path("account/", settings.account, name="account"),
    path("join/<str:secret>/", settings.join, name="join"),
    path("save/", saved.save, name="save"),
    path("c/<uuid:pk>/", include(_comparison)),
    path("portfolios/<uuid:pk>/", include(_saved_portfolio)),
    path("jobs/<uuid:pk>/", operator.job, name="job"),
    path("jobs/<uuid:pk>/cancel/", operator.cancel, name="job-cancel"),
    path("operator/", operator.refreshes, name="operator"),
]

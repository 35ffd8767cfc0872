"""The API's addresses under /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path, register_converter
from rest_framework.routers import SimpleRouter

from planner.api.views import comparisons, documents, projects, teams
from planner.exports import FORMATS, address_format
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS

register_converter(address_format(FORMATS), "export_format")
register_converter(address_format(PORTFOLIO_FORMATS), "portfolio_format")

app_name = "api"
router = SimpleRouter(use_regex_path=False)
router.register("teams", teams.TeamsView, "team")
router.register("teams/<slug:team>/servers", teams.ServerQuotesView, "server-quote")
router.register("teams/<slug:team>/audit-log", teams.AuditLogView, "audit-entry")
router.register("teams/<slug:team>/webhooks", teams.WebhooksView, "webhook")
router.register("projects", projects.ProjectsView, "project")
router.register("projects/<uuid:project>/actuals", projects.ActualsView, "actuals")
router.register("saved-comparisons", projects.SavedComparisonsView, "saved-comparison")
router.register("saved-portfolios", projects.SavedPortfoliosView, "saved-portfolio")
router.register("sweeps", comparisons.SweepsView, "sweep")
router.register("jobs", teams.JobsView, "job")
router.register("alerts", teams.AlertsView, "alert")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", documents.RootView.as_view(), name="root"),
    path("comparisons/", comparisons.ComparisonsView.as_view(), name="comparisons"),
    path("portfolios/", comparisons.PortfoliosView.as_view(), name="portfolios"),
    path("estimates/", comparisons.EstimatesView.as_view(), name="estimates"),
    path("usage/", comparisons.UsageView.as_view(), name="usage"),
    path("me/", teams.MeView.as_view(), name="me"),
    path("refreshes/", teams.RefreshesView.as_view(), name="refreshes"),
    path("schema/", documents.SchemaView.as_view(), name="schema"),
    path("docs/", documents.DocsView.as_view(), name="docs"),
    path("", include(router.urls)),
    re_path(r"", documents.missing, name="missing"),
]

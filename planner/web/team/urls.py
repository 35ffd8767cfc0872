"""Addresses of the team's pages. A team is named by its slug, everything else by its id."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, register_converter

from planner.exports import FORMATS, address_format
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.web.team import operator, portfolio, projects, saved, settings

Routes = list[URLPattern | URLResolver]
register_converter(address_format(FORMATS), "page_export")
register_converter(address_format(PORTFOLIO_FORMATS), "page_portfolio_export")

_project = [
    path("", projects.project, name="project"),
    path("completion/", projects.completion, name="project-completion"),
    path("edit/", projects.edit, name="project-edit"),
    path("archive/", projects.archive, name="project-archive"),
    path("delete/", projects.delete, name="project-delete"),
    path("save/", projects.save, name="project-save"),
    path("uploads/", projects.upload, name="project-upload"),
    path("uploads/<uuid:upload>/delete/", projects.delete_upload, name="upload-delete"),
]

_settings = [
    path("", settings.settings, name="team-settings"),
    path("prices/", settings.prices, name="team-prices"),
    path("members/", settings.members, name="team-members"),
    path("members/<uuid:pk>/role/", settings.change_role, name="member-role"),
    path("members/<uuid:pk>/remove/", settings.remove, name="member-remove"),
    path("invitations/<uuid:pk>/revoke/", settings.revoke_invitation, name="invitation-revoke"),
    path("servers/", settings.quotes, name="team-servers"),
    path("servers/<uuid:pk>/", settings.quote, name="quote"),
    path("servers/<uuid:pk>/remove/", settings.remove_quote, name="quote-remove"),
    path("tokens/", settings.tokens, name="team-tokens"),
    path("tokens/<uuid:pk>/revoke/", settings.revoke_token, name="token-revoke"),
    path("alerts/", settings.alert_targets, name="team-alerts"),
    path("alerts/<uuid:pk>/test/", settings.test_alert, name="alert-target-test"),
    path("alerts/<uuid:pk>/remove/", settings.remove_alert_target, name="alert-target-remove"),
    path("audit/", settings.log, name="team-audit"),
    path("delete/", settings.delete, name="team-delete"),
]

_team: Routes = [
    path("", projects.dashboard, name="dashboard"),
    path("portfolio/", portfolio.portfolio, name="portfolio"),
    path("portfolio/save/", portfolio.save, name="portfolio-save"),
    path("projects/new/", projects.new, name="project-new"),
    path("projects/<uuid:pk>/", include(_project)),
    path("alerts/<uuid:pk>/acknowledge/", projects.acknowledge, name="alert-acknowledge"),
    path("settings/", include(_settings)),
]

_comparison = [
    path("", saved.comparison, name="comparison"),
    path("since/", saved.since, name="comparison-since"),
    path("pack/", saved.pack, name="comparison-pack"),
    path("edit/", saved.edit, name="comparison-edit"),
    path("submit/", saved.submit, name="comparison-submit"),
    path("send-back/", saved.send_back, name="comparison-send-back"),
    path("approve/", saved.approve, name="comparison-approve"),
    path("delete/", saved.delete, name="comparison-delete"),
    path("export/<page_export:form>/", saved.export, name="comparison-export"),
]

_saved_portfolio = [
    path("", portfolio.saved_portfolio, name="saved-portfolio"),
    path("approve/", portfolio.approve, name="saved-portfolio-approve"),
    path("delete/", portfolio.delete, name="saved-portfolio-delete"),
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
    path("operator/refresh/", operator.refresh, name="operator-refresh"),
    path("operator/prices/", operator.decide, name="quarantined-prices"),
]

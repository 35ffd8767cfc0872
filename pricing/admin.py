"""What an operator looks at: revisions, quarantined batches, refresh runs, reference data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from pricing import models
from pricing.models import QuarantinedBatch

BREAK = mark_safe("<br>")
"""Between lines; a constant of ours, nothing from outside."""

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class ReadOnly(_ModelAdmin):
    """Nothing is written by hand: revisions come from batches alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Revision)
class RevisionAdmin(ReadOnly):
    list_display = (
        *("provider", "number", "as_of", "published_at", "origin", "offer_count"),
        *("added", "gone", "dearer", "cheaper", "changed"),
    )
    list_filter = ("provider", "origin")
    exclude = ("dates", "moves")
    readonly_fields = ("largest_moves",)

    @admin.display(description="largest moves")
    def largest_moves(self, revision: models.Revision) -> SafeString:
        return format_html_join(
            BREAK,
            "{}: {} → {} {}/h (× {})",
            (
                (m["offer_id"], m["before"], m["after"], m["currency"], m["ratio"])
                for m in revision.moves
            ),
        )


@admin.register(QuarantinedBatch)
class QuarantinedBatchAdmin(ReadOnly):
    """Batches that the checks did not let through: decided on the page /operator/ or by the API."""

    list_display = ("provider", "state", "created_at", "offer_count", "why")
    list_filter = ("state", "provider")
    exclude = ("payload", "reasons")
    readonly_fields = ("why",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuarantinedBatch]:
        return super().get_queryset(request).defer("payload")

    @admin.display(description="why it is quarantined")
    def why(self, quarantined_batch: QuarantinedBatch) -> SafeString:
        return format_html_join(BREAK, "{}", ((reason,) for reason in quarantined_batch.reasons))


@admin.register(models.RefreshRun)
class RefreshRunAdmin(ReadOnly):
    list_display = (
        *("provider", "outcome", "started_at", "finished_at", "offer_count", "skipped_count"),
        "message",
    )
    list_filter = ("outcome", "provider")


@admin.register(models.ExchangeRate)
class ExchangeRateAdmin(_ModelAdmin):
    list_display = ("currency", "date", "units_per_usd", "source")
    list_filter = ("currency",)


@admin.register(models.Region)
class RegionAdmin(_ModelAdmin):
    list_display = ("provider", "region", "name", "geography", "country", "g_co2e_per_kwh")
    list_filter = ("provider", "geography")
    search_fields = ("region", "name", "city")

"""Reference data that an operator may mend; prices come from batches alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from pricing import models

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


@admin.register(models.ExchangeRate)
class ExchangeRateAdmin(_ModelAdmin):
    list_display = ("currency", "date", "units_per_usd", "source")
    list_filter = ("currency",)


@admin.register(models.Region)
class RegionAdmin(_ModelAdmin):
    list_display = ("provider", "region", "name", "geography", "country", "g_co2e_per_kwh")
    list_filter = ("provider", "geography")
    search_fields = ("region", "name", "city")

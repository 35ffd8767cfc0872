"""Days, times and months as pages write them, months in words; no line breaks within a day."""

from __future__ import annotations

import datetime as dt

from django import template
from django.template.defaultfilters import date as formatted
from django.utils.html import format_html

from planner.contract.months import name_month

register = template.Library()
register.filter("month_name", name_month)


@register.filter(expects_localtime=True)
def day(value: dt.date | None) -> str:
    """A day, or that of a time; empty where there is none: `1 February 2026`."""
    return _unbroken(value, "j F Y")


@register.filter(expects_localtime=True)
def minute(value: dt.datetime | None) -> str:
    """A time to the minute: `1 February 2026, 09:30`."""
    return _unbroken(value, "j F Y, H:i")


@register.filter(expects_localtime=True)
def second(value: dt.datetime | None) -> str:
    """A time to the second: `1 February 2026, 09:30:15`."""
    return _unbroken(value, "j F Y, H:i:s")


def _unbroken(value: dt.date | None, form: str) -> str:
    written = formatted(value, form)
    return format_html('<time class="day">{}</time>', written) if written else ""

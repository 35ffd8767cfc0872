"""How figures look on a page: rounding happens here and in exports, nowhere else."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from planner.web.common.form_fields import find_label
from planner.web.common.glossary import TERMS
from pricing.freshness import Freshness

register = template.Library()
_UNKNOWN = "not known"
_ICON_NAME = re.compile(r"^[a-z0-9-]+$")


def _decimal(value: Any) -> Decimal | None:
    if value is None or value == "":
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@register.filter
def money(value: Any, currency: str = "USD") -> str:
    """Whole units with thousands separated and the currency: `1,234,567 USD`."""
    number = _decimal(value)
    return _UNKNOWN if number is None else f"{number:,.0f}\u00a0{currency}"


@register.filter
def money_short(value: Any, currency: str = "USD") -> str:
    """Three significant figures with k or M: `3.41 M USD`."""
    number = _decimal(value)
    if number is None:
        return _UNKNOWN
    for limit, divisor, suffix in ((10**9, 10**9, "\u00a0bn"), (10**6, 10**6, "\u00a0M")):
        if abs(number) >= limit:
            return f"{number / divisor:,.2f}{suffix}\u00a0{currency}"
    return f"{number:,.0f}\u00a0{currency}"


@register.filter
def rate(value: Any, currency: str = "USD") -> str:
    """A price per hour: four decimals below 1, two above: `6.88 USD`."""
    number = _decimal(value)
    if number is None:
        return _UNKNOWN
    digits = 4 if abs(number) < 1 else 2
    return f"{number:,.{digits}f}\u00a0{currency}"


@register.filter
def percent(value: Any, digits: int = 0) -> str:
    """A fraction as percent: 0.083 → `8.3 %` with digits 1."""
    number = _decimal(value)
    return _UNKNOWN if number is None else f"{number * 100:.{digits}f}\u00a0%"


@register.filter
def number(value: Any, digits: int = 0) -> str:
    """A figure with thousands separated: `8,556`."""
    figure = _decimal(value)
    return _UNKNOWN if figure is None else f"{figure:,.{digits}f}"


@register.filter
def plain(value: Any) -> str:
    """A figure without trailing zeros and never in scientific notation: `0.125`, `16`."""
    figure = _decimal(value)
    if figure is None:
        return _UNKNOWN if value in (None, "") else str(value)
    text = f"{figure:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def quantity(value: Any, unit: str) -> str:
    """A figure with its unit: `16 GiB`; where it is not known, no unit either."""
    figure = plain(value)
    return figure if figure == _UNKNOWN else f"{figure} {unit}"


@register.filter
def price_age(row: Freshness) -> str:
    """How old a provider's prices are: `oldest price 12 days`."""
    if row.age_days is None:
        return "the prices carry no date"
    return f"oldest price {row.age_days} days"


@register.filter
def price_age_short(row: Freshness) -> str:
    """The same for a narrow place: `12 d`."""
    return "undated" if row.age_days is None else f"{row.age_days} d"


@register.filter
def price_reading(row: Freshness) -> str:
    """When a provider's prices were read: `read 2026-11-20, its oldest price is 12 days old`."""
    oldest = "" if row.age_days is None else f", its oldest price is {row.age_days} days old"
    return f"read {row.as_of or _UNKNOWN}{oldest}"


@register.filter
def words(value: str) -> str:
    """A key of the contract as words: `dws_flex_start` → `flex start`."""
    return str(value).removeprefix("dws_").replace("_", " ")


@register.filter
def item(mapping: Any, key: Any) -> Any:
    """The value under `key`, or nothing."""
    return mapping.get(key) if hasattr(mapping, "get") else None


@lru_cache(maxsize=256)
def _icon_markup(name: str) -> str:
    path = settings.NODE_MODULES / "@tabler/icons/icons/outline" / f"{name}.svg"
    markup = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.S).strip()
    return markup.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the Tabler set, inline, hidden from screen readers."""
    if not _ICON_NAME.match(name):
        raise template.TemplateSyntaxError(f"{name!r} is not the name of an icon")
    return mark_safe(_icon_markup(name))  # noqa: S308 - a file of the icon package


@register.simple_tag
def term(name: str, text: str = "") -> SafeString:
    """A word with its meaning on hover and focus, and the glossary one click away.

    With the text `?` it is a mark beside a label that already holds the word.
    """
    return format_html(
        '<a class="term" href="{}#term-{}"{}>{}'
        '<span class="term-note" role="tooltip">{}</span></a>',
        reverse("method"),
        slugify(name),
        format_html(' aria-label="What is {}?"', name) if text == "?" else "",
        text or name,
        TERMS[name],
    )


@register.filter
def figures(value: Any, digits: int = 3) -> str:
    """A figure to so many significant digits, never in scientific notation: `0.73`, `1,250`."""
    figure = _decimal(value)
    if figure is None:
        return _UNKNOWN if value in (None, "") else str(value)
    if figure:
        figure = round(figure, digits - 1 - figure.adjusted())
    return plain(figure)


@register.filter
def signed(value: Any, currency: str = "USD") -> str:
    """A difference with its sign: `+1,200 USD`, `−300 USD`, `0 USD`."""
    figure = _decimal(value)
    if figure is None:
        return _UNKNOWN
    sign = "" if not round(figure) else "+" if figure > 0 else "\u2212"
    return f"{sign}{money(abs(figure), currency)}"


@register.filter
def singular(unit: str) -> str:
    """The unit of one: `node-hours` → `node-hour`."""
    return str(unit).removesuffix("s")


@register.filter
def field_label(path: str) -> str:
    """What the form calls a field of the request."""
    return find_label(str(path))

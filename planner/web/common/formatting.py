"""How figures look on a page: rounding happens here and in exports, nowhere else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from django import template
from django.template.defaultfilters import date as formatted
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from planner.contract.amounts import decimals_of, name_day, name_month, write_figure
from planner.contract.answer.comparison import PriceAge, PriceCoverage
from planner.contract.answer.estimate import CpuNote
from planner.contract.labels import accelerator_name, join_reasons, traits, unit_words
from planner.web.common.choices import provider_title
from planner.web.common.fields import find_label, in_field_unit, with_labels
from pricing.common.tables import read_rows
from pricing.common.words import capitalize_first, pluralize
from pricing.market.accelerators import get
from pricing.market.coverage import CoverageRow, PriceState
from pricing.market.offer_filters import sold_options
from pricing.market.offers import PurchaseOption

register = template.Library()
register.filter("with_labels", with_labels)
register.filter(accelerator_name)
register.filter("reasons", lambda several: with_labels(join_reasons(several)))
_UNKNOWN = "not known"
_LESS = "less than 1"
_A_HUNDREDTH, _A_HALF = Decimal("0.005"), Decimal("0.5")
"""What rounds to 0 in hundredths, and in whole units."""
_MINUTES, _FEW = 60, 10
TERMS = {r["term"]: r["meaning"] for r in read_rows(Path(__file__).with_name("terms.csv"))}


def _decimal(value: Any) -> Decimal | None:
    if value is None or value == "":
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


P = ParamSpec("P")


def _of_figure(write: Callable[Concatenate[Decimal, P], str]) -> Callable[Concatenate[Any, P], str]:
    @register.filter(write.__name__)
    @wraps(write)
    def written(value: Any, /, *args: P.args, **kwargs: P.kwargs) -> str:
        figure = _decimal(value)
        return _UNKNOWN if figure is None else write(figure, *args, **kwargs)

    return written


@register.filter
def cloud(name: str) -> str:
    return provider_title(name) if name else ""


@_of_figure
def money(figure: Decimal, currency: str = "USD") -> str:
    """Whole units with thousands separated, below half a unit its hundredths: `1,234,567 USD`."""
    digits = decimals_of(currency) if _A_HUNDREDTH <= abs(figure) < _A_HALF else 0
    return f"{write_figure(figure, digits)}\u00a0{currency}"


@_of_figure
def rate(figure: Decimal, currency: str = "USD") -> str:
    """A price per hour: four decimals below 1, two above: `6.88 USD`."""
    return f"{write_figure(figure, 4 if abs(figure) < 1 else 2)}\u00a0{currency}".rstrip()


@_of_figure
def percent(figure: Decimal, digits: int = 0) -> str:
    """A fraction as percent: 0.083 → `8.3%` with digits 1."""
    return f"{write_figure(figure * 100, digits)}%"


@_of_figure
def number(figure: Decimal, digits: int = 0) -> str:
    """A figure with thousands separated: `8,556`."""
    return write_figure(figure, digits)


def _shorten(hours: Decimal) -> tuple[str, bool]:
    if abs(hours) >= 1:
        return plain(round(hours, 1 if abs(hours) < _FEW else 0)), False
    minutes = round(hours * _MINUTES)
    return number(minutes) if minutes or not hours else _LESS, True


@_of_figure
def worked(figure: Decimal, what: str) -> str:
    """Hours that it works: `524 machine-hours`, `3.4 machine-hours`, `14 machine-minutes`."""
    shown, are_minutes = _shorten(figure)
    ending = "" if shown in ("1", _LESS) else "s"
    return f"{shown} {what}-{'minute' if are_minutes else 'hour'}{ending}"


@_of_figure
def duration(figure: Decimal) -> str:
    """The same in short: `524 h`, `3.4 h`, `30 min`."""
    shown, are_minutes = _shorten(figure)
    return f"{shown} {'min' if are_minutes else 'h'}"


@_of_figure
def cell(figure: Decimal) -> str:
    """A figure of a table, below 10 with tenths and below 1 with hundredths: `3.9`, `0.25`."""
    if abs(figure) >= _FEW or not figure:
        return number(figure)
    digits = 1 if abs(figure) >= 1 else 2
    return number(figure, digits) if abs(figure) >= _A_HUNDREDTH else "less than 0.01"


@register.filter
def plain(value: Any) -> str:
    """A figure without trailing zeros and never in scientific notation: `0.125`, `16`."""
    figure = _decimal(value)
    if figure is None:
        return _UNKNOWN if value in (None, "") else str(value)
    text = f"{figure:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def unseparated(value: Any) -> str:
    return plain(value).replace(",", "")


@register.filter
def quantity(value: Any, unit: str) -> str:
    """A figure with its unit: `16 GiB`; where it is not known, no unit either."""
    figure = plain(value)
    return figure if figure == _UNKNOWN else f"{figure} {unit}"


@register.filter
def part_age(part: PriceAge) -> str:
    """The median age of a part, and that of its oldest price where it is another."""
    title = words(part.part)
    if part.median_age_days is None:
        return f"{title} undated"
    age, oldest = part.median_age_days, part.oldest_age_days
    last = "" if oldest is None or oldest == age else f" (oldest {pluralize(oldest, 'day')})"
    return f"{title} {pluralize(age, 'day')}{last}"


@register.filter
def words(value: str) -> str:
    """A key of the contract as words: `dws_flex_start` → `flex start`."""
    return str(value).removeprefix("dws_").replace("_", " ")


@register.filter
def item(mapping: Any, key: Any) -> Any:
    return mapping.get(key) if hasattr(mapping, "get") else None


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
    return plain(round(figure, digits - 1 - figure.adjusted()) if figure else value)


@_of_figure
def signed(figure: Decimal, currency: str = "USD") -> str:
    """A difference with its sign: `+1,200 USD`, `−300 USD`, `0 USD`."""
    sign = "" if not round(figure) else "+" if figure > 0 else "\u2212"
    return f"{sign}{money(abs(figure), currency)}"


register.filter(unit_words)


@register.filter
def singular(unit: str) -> str:
    return str(unit).removesuffix("s")


@register.filter
def beside(heads: Iterable[Any], cells: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Each cell of a row with the head of its column."""
    return list(zip(heads, cells, strict=True))


@register.filter
def field_label(path: str) -> str:
    return find_label(str(path))


@register.filter
def refusal_message(refusal: Any) -> str:
    return in_field_unit(refusal.field, refusal.message)


Coverage = CoverageRow | PriceCoverage
"""A row as the market or an answer has it; the fields are the same."""


def arrange_coverage(rows: Iterable[Coverage]) -> dict[str, Any]:
    """Rows of coverage as a table: its `columns`, purchase options that anybody has, and `rows` of
    an accelerator, a provider and their cells. A cell is None where the option is known not to be
    sold.

    What no price and no source speaks of is not known, such as terms of a smaller cloud.
    """
    by_key = {(row.accelerator, row.provider, row.purchase_option): row for row in rows}
    present = {option for _, _, option in by_key}
    options = [option.value for option in PurchaseOption if option.value in present]

    def cell(accelerator: str, provider: str, option: str) -> Coverage | None:
        # Where sources speak of the provider, it has a row for all that it sells.
        is_known = (provider, option) in sold_options()
        unknown = CoverageRow(accelerator, provider, option, PriceState.UNKNOWN)
        return by_key.get((accelerator, provider, option), None if is_known else unknown)

    return {
        "columns": [capitalize_first(traits(option).label) for option in options],
        "rows": [
            (get(name).name, provider_title(cloud), [cell(name, cloud, one) for one in options])
            for name, cloud in dict.fromkeys((name, cloud) for name, cloud, _ in by_key)
        ],
    }


@register.filter("price_state")
def describe_state(row: Coverage | None) -> str:
    if row is None or row.state == PriceState.NOT_SOLD:
        return "not sold"
    if row.state == PriceState.SOLD_PRICE_UNKNOWN:
        return "sold, price not known"
    if row.state == PriceState.UNKNOWN:
        return "not known"
    prices = f"{row.count:,} price{'' if row.count == 1 else 's'}"
    if row.unknown_terms:
        prices += f" (not of {' and '.join(map(str, row.unknown_terms))} months)"
    if row.newest is None:
        return f"{prices}, undated"
    span = " to ".join(dict.fromkeys(map(name_day, filter(None, (row.oldest, row.newest)))))
    undated = f", {row.undated:,} undated" if row.undated else ""
    return f"{prices}, {span}{undated}"


register.filter("month_name", name_month)


def _unbroken(value: dt.date | None, form: str) -> str:
    written = formatted(value, form)
    return format_html('<time class="day">{}</time>', written) if written else ""


for _name, _form in {"day": "j F Y", "minute": "j F Y, H:i", "second": "j F Y, H:i:s"}.items():
    register.filter(_name, partial(_unbroken, form=_form), expects_localtime=True)


@register.filter
def cpu_sentence(cpu: CpuNote) -> str:
    machine = f" ({figures(cpu.hours)} h of a machine with 16 virtual CPUs)"
    return f"{capitalize_first(cpu.note)}{'' if cpu.hours is None else machine}."

"""Draws charts as SVG: on the server, in the colours of the page, the same on paper and without
scripts.

Horizontal places are per cent of the width and vertical ones pixels, so that letters keep their
size at every width; only lines stand in an inner drawing that stretches.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from planner.web.common.chart import Chart, Series, name_place
from planner.web.common.formatting import number

register = template.Library()
LEFT, RIGHT = 13.0, 98.0
"""Where a plot begins and ends, per cent of the width."""
TOP, PLOT, BELOW = 16, 214, 26
"""Pixels above a plot, of its height, and below it for the labels of its axis."""
ROW, BAR = 40, 16
"""Pixels of a row with its name above the bar, and of the bar."""
MOST_LABELS = 4


def element(name: str, content: object = "", **attributes: object) -> SafeString:
    """`element("rect", x="3%", width="4%")`; `class_` and `stroke_width` are written as in SVG."""
    written = (
        format_html(' {}="{}"', key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
    )
    return format_html("<{}{}>{}</{}>", name, join(written), content, name)


def join(parts: Iterator[SafeString] | Sequence[SafeString]) -> SafeString:
    return mark_safe("".join(map(conditional_escape, parts)))  # noqa: S308 - each is escaped


@dataclass(frozen=True)
class Scale:
    """Even ticks that span the values; `at` is the share of the way from the first to the last."""

    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float], *, most: int = 5) -> Scale:
        """
        >>> Scale.over([0, 2_310_000]).ticks
        (0.0, 500000.0, 1000000.0, 1500000.0, 2000000.0, 2500000.0)
        """
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(one * power for one in (1, 2, 2.5, 5, 10) if span / (one * power) <= most)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(tuple(round(i * step, 10) for i in range(first, max(last, first + 1) + 1)))

    def at(self, value: float) -> float:
        first, last = self.ticks[0], self.ticks[-1]
        return (value - first) / (last - first)


def short(value: float) -> str:
    """
    >>> [short(one) for one in (0, 0.25, 1500, -2_500_000)]
    ['0', '0.25', '1.5k', '−2.5M']
    """
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    for limit, suffix in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{sign}{abs(value) / limit:.4g}{suffix}"
    return f"{sign}{abs(value):.4g}"


def series_class(series: Series, index: int) -> str:
    """Its colour by what it stands for, else by its place."""
    return f"series series-{index % 10} role-{series.role or 'none'}"


@register.simple_tag
def draw_chart(chart: Chart) -> SafeString:
    content, height = DRAW[chart.kind](chart)
    label = f"{chart.title} {chart.summary}"
    return element(
        "svg", join(content), class_="plot", width="100%", height=height, role="img",
        aria_label=label,
    )  # fmt: skip


@register.simple_tag
def legend_class(series: Series, index: int) -> str:
    return f"{series_class(series, index)}{' dashed' if series.dashed else ''}"


def _x(share: float) -> float:
    return round(LEFT + share * (RIGHT - LEFT), 3)


def _y(share: float) -> float:
    return round(TOP + (1 - share) * PLOT, 2)


def _percent(value: float) -> str:
    return f"{value:.3f}%"


def _value_axis(chart: Chart, scale: Scale) -> Iterator[SafeString]:
    for tick in scale.ticks:
        y = _y(scale.at(tick))
        yield element("line", class_="grid-line", x1=_percent(LEFT), x2=_percent(RIGHT), y1=y, y2=y)
        yield element("text", short(tick), x=_percent(LEFT - 1), y=y + 4, text_anchor="end")


def _names_below(places: Sequence[tuple[float, str]], y: float) -> Iterator[SafeString]:
    last = len(places) - 1
    shown = dict.fromkeys(round(i * last / (MOST_LABELS - 1)) for i in range(MOST_LABELS))
    for share, name in (places[i] for i in shown):
        anchor = "end" if share > 0.9 else "start" if share < 0.1 else "middle"
        yield element("text", name, x=_percent(_x(share)), y=y, text_anchor=anchor)


Place = tuple[float, float]
"""Shares of the plot, from its left and from its bottom."""


def _path(places: Sequence[Place], style: str, *, dashed: bool) -> SafeString:
    """A line through places, in an inner drawing of 1,000 by 1,000."""
    points = " ".join(f"{1000 * x:.1f},{1000 * (1 - y):.1f}" for x, y in places)
    line = element(
        "polyline", points=points, class_=f"{style}{' dashed' if dashed else ''}",
        vector_effect="non-scaling-stroke",
    )  # fmt: skip
    return element(
        "svg", line, x=_percent(LEFT), y=TOP, width=_percent(RIGHT - LEFT), height=PLOT,
        viewBox="0 0 1000 1000", preserveAspectRatio="none", overflow="visible",
    )  # fmt: skip


def _with_steps(places: Sequence[Place]) -> list[Place]:
    held = [(x, before[1]) for before, (x, _) in pairwise(places)]
    pairs = zip(places[1:], held, strict=True)
    return [*places[:1], *(place for one, corner in pairs for place in (corner, one))]


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _notes(chart: Chart, shares: Sequence[float], wide: float) -> Iterator[SafeString]:
    """A strip over each place of the axis that tells its values when pointed at."""
    for i, (share, name) in enumerate(zip(shares, chart.x, strict=True)):
        words = [
            f"{one.name}: {number(one.values[i], chart.digits)} {chart.unit}".strip()
            for one in chart.series
            if one.values[i] is not None
        ]
        left = max(share - wide / 2, 0.0)
        yield element(
            "rect", element("title", "\n".join([_name(name), *words])), class_="note-strip",
            x=_percent(_x(left)), y=TOP, width=_percent(wide * (RIGHT - LEFT)), height=PLOT,
        )  # fmt: skip


def _draw_line(chart: Chart) -> tuple[list[SafeString], int]:
    values = (value for one in chart.series for value in _known([*one.values, *one.ends]))
    scale, shares = Scale.over([0.0, *values]), _shares(chart.x)
    drawn = [*_value_axis(chart, scale)]
    drawn += _names_below([*zip(shares, map(_name, chart.x), strict=True)], TOP + PLOT + 18)
    for i, one in enumerate(chart.series):
        at = zip(shares, one.values, strict=True)
        for is_known, run in groupby(at, key=lambda place: place[1] is not None):
            places = [(share, scale.at(value or 0.0)) for share, value in run]
            steps = _with_steps(places) if chart.kind == "points" else places
            if is_known:
                drawn.append(_path(steps, series_class(one, i), dashed=one.dashed))
        if chart.kind == "points":
            drawn += _dots(chart, one, shares, scale, series_class(one, i))
    drawn += _draw_ends(chart, scale)
    if chart.kind == "line":
        drawn += _notes(chart, shares, 1 / max(len(shares), 1))
    for mark in chart.marks:
        share = shares[list(chart.x).index(mark.x)]
        x, y = _percent(_x(share)), _y(scale.at(mark.y))
        anchor = "end" if share > 0.5 else "start"
        drawn.append(element("circle", class_="mark", cx=x, cy=y, r=5))
        drawn.append(
            element("text", mark.label, class_="mark", x=x, y=max(y - 12, 12), text_anchor=anchor)
        )
    return drawn, TOP + PLOT + BELOW


def _draw_ends(chart: Chart, scale: Scale) -> Iterator[SafeString]:
    """A bar at the end of a line, the range of its last value, with a dot: what is expected."""
    at = RIGHT + 0.3
    for i, one in enumerate(chart.series):
        if one.ends:
            low, middle, high = (_y(scale.at(value)) for value in one.ends)
            yield element(
                "rect", class_=series_class(one, i), x=_percent(at), y=high, width="0.7%",
                height=round(low - high, 2),
            )  # fmt: skip
            yield element("circle", class_="mark", cx=_percent(at + 0.35), cy=middle, r=3)
            at += 0.9


def _dots(
    chart: Chart, series: Series, shares: Sequence[float], scale: Scale, style: str
) -> Iterator[SafeString]:
    for share, value, day in zip(shares, series.values, chart.x, strict=True):
        if value is not None:
            words = f"{_name(day)}: {number(value, chart.digits)} {chart.unit}".strip()
            x, y = _percent(_x(share)), _y(scale.at(value))
            yield element("circle", element("title", words), class_=style, cx=x, cy=y, r=4)


OnAxis = str | float | dt.date


def _name(x: OnAxis) -> str:
    return str(name_place(x))


def _shares(x: Sequence[OnAxis]) -> list[float]:
    numbers = [
        float(one.toordinal() if isinstance(one, dt.date) else one)
        for one in x
        if not isinstance(one, str)
    ]
    if len(numbers) == len(x) > 1 and numbers[-1] > numbers[0]:
        return [(one - numbers[0]) / (numbers[-1] - numbers[0]) for one in numbers]
    return [i / max(len(x) - 1, 1) for i in range(len(x))]


def _draw_bar(chart: Chart) -> tuple[list[SafeString], int]:
    stacked = [one for one in chart.series if not one.dashed]
    tops = [sum(_known([one.values[i] for one in stacked])) for i in range(len(chart.x))]
    lines = [value for one in chart.series if one.dashed for value in _known(one.values)]
    scale, wide = Scale.over([0.0, *tops, *lines]), 1 / max(len(chart.x), 1)
    drawn = [*_value_axis(chart, scale)]
    middles = [(i + 0.5) * wide for i in range(len(chart.x))]
    drawn += _names_below([*zip(middles, map(_name, chart.x), strict=True)], TOP + PLOT + 18)
    foot = [0.0] * len(chart.x)
    for i, one in enumerate(chart.series):
        if one.dashed:
            ends = [(k * wide, scale.at(value or 0.0)) for k, value in enumerate(one.values)]
            places = _with_steps([*ends, (1.0, ends[-1][1])])
            drawn.append(_path(places, series_class(one, i), dashed=True))
            continue
        for k, value in enumerate(one.values):
            low, foot[k] = foot[k], foot[k] + (value or 0.0)
            top = _y(scale.at(foot[k]))
            if value:
                drawn.append(element(
                    "rect", class_=series_class(one, i), x=_percent(_x(k * wide)), y=top,
                    width=_percent(wide * 0.86 * (RIGHT - LEFT)),
                    height=round(_y(scale.at(low)) - top, 2),
                ))  # fmt: skip
    drawn += _notes(chart, middles, wide)
    return drawn, TOP + PLOT + BELOW


def _draw_horizontal_bar(chart: Chart) -> tuple[list[SafeString], int]:
    def bars(row: int) -> Iterator[tuple[int, float, float]]:
        ends = {True: 0.0, False: 0.0}
        for k, one in enumerate(chart.series):
            value = one.values[row]
            if value:
                low = ends[value > 0]
                ends[value > 0] = low + value
                yield k, low, low + value

    ends = [end for i in range(len(chart.x)) for _, *pair in bars(i) for end in pair]
    scale = Scale.over([0.0, *ends], most=4)
    height = ROW * len(chart.x)

    def x(value: float) -> float:
        return 1 + scale.at(value) * 97

    drawn = [
        element("line", class_="grid-line", x1=_percent(x(tick)), x2=_percent(x(tick)), y1=0,
                y2=height)
        for tick in scale.ticks
    ]  # fmt: skip
    for i, name in enumerate(chart.x):
        drawn.append(element("text", name, x="1%", y=i * ROW + 14, class_="row-name"))
        for k, low, high in bars(i):
            one = chart.series[k]
            words = f"{one.name}: {number(one.values[i], chart.digits)} {chart.unit}".strip()
            drawn.append(element(
                "rect", element("title", words), class_=series_class(one, k),
                x=_percent(x(min(low, high))), y=i * ROW + 19,
                width=_percent(abs(x(high) - x(low))), height=BAR,
            ))  # fmt: skip
    labels = [(scale.at(tick), short(tick)) for tick in scale.ticks]
    for i, (share, label) in enumerate(labels):
        anchor = "start" if i == 0 else "end" if i == len(labels) - 1 else "middle"
        drawn.append(
            element("text", label, x=_percent(1 + share * 97), y=height + 16, text_anchor=anchor)
        )
    return drawn, height + BELOW


DRAW: Mapping[str, Callable[[Chart], tuple[list[SafeString], int]]] = {
    "line": _draw_line,
    "bar": _draw_bar,
    "hbar": _draw_horizontal_bar,
    "points": _draw_line,
}

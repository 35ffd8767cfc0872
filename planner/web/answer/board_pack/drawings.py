"""Charts of the page drawn for paper: lines and bars in grey, named where they end."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Literal

from reportlab.graphics.shapes import Circle, Drawing, Line, PolyLine, Rect, String
from reportlab.lib.colors import Color, HexColor

from planner.web.answer.board_pack.paper import BOLD, GREY, INK, LINE, REGULAR, WIDTH
from planner.web.answer.scenario_rows import ScenarioRow
from planner.web.common.chart import Chart, Series
from planner.web.common.formatting import money, money_short, plain

HEIGHT = 150.0
LEFT, RIGHT, BOTTOM, TOP = 46.0, 112.0, 24.0, 14.0
MOST_MONTHS = 9
"""Names of so many months stand below a chart."""
Anchor = Literal["start", "middle", "end"]
GREYS = tuple(HexColor(one) for one in ("#30363d", "#7a838c", "#b8bfc7", "#dfe3e8", "#545d68"))
DASHES: tuple[Sequence[float], ...] = ((), (5, 2), (1, 2))
MOST_TICKS = 6
LEAST_GAP = 9.0
"""Points between the names of two lines."""


def _rect(x: float, y: float, width: float, height: float, fill: Color) -> Rect:
    rect = Rect(x, y, width, height)
    rect.fillColor, rect.strokeColor, rect.strokeWidth = fill, LINE, 0.3
    return rect


class _Frame:
    """A drawing with a value axis whose grid is drawn and whose values have a place."""

    def __init__(self, chart: Chart, highest: float, lowest: float = 0.0) -> None:
        self.drawing = Drawing(WIDTH, HEIGHT)
        step = _tick_step((highest - min(lowest, 0.0)) or 1.0)
        self.low = floor(min(lowest, 0.0) / step) * step
        self.high = max(ceil(highest / step) * step, self.low + step)
        for index in range(round((self.high - self.low) / step) + 1):
            value = self.low + index * step
            y = self.y(value)
            self.drawing.add(Line(LEFT, y, WIDTH - RIGHT, y, strokeColor=LINE, strokeWidth=0.4))
            self.write(LEFT - 4, y - 2.4, f"{_short(value)} {chart.unit}".strip(), anchor="end")
        self.write(0, HEIGHT - 7, chart.y_label)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return BOTTOM + share * (HEIGHT - BOTTOM - TOP)

    def write(
        self, x: float, y: float, words: str, *, anchor: Anchor = "start", bold: bool = False,
        colour: Color = GREY,
    ) -> None:  # fmt: skip
        font = BOLD if bold else REGULAR
        self.drawing.add(
            String(x, y, words, fontName=font, fontSize=6.6, fillColor=colour, textAnchor=anchor)
        )

    def write_months(self, labels: Sequence[str | float], places: Sequence[float]) -> None:
        """Some of the names below the axis, the first always."""
        every = -(-len(labels) // MOST_MONTHS)
        for label, x in list(zip(labels, places, strict=True))[::every]:
            self.write(x, BOTTOM - 10, str(label), anchor="middle")


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten: the least with at most `MOST_TICKS` steps in `span`."""
    power = 10.0 ** floor(log10(span / MOST_TICKS))
    return next(one * power for one in (1, 2, 5, 10) if span / (one * power) <= MOST_TICKS)


def _short(value: float) -> str:
    """`400k`, `1.2M`."""
    for limit, suffix in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{plain(round(value / limit, 2))}{suffix}"
    return plain(round(value, 2))


def draw_lines(chart: Chart) -> Drawing:
    """Lines named at their ends, with the chart's marks."""
    values = [value for one in chart.series for value in one.values if value is not None]
    frame = _Frame(chart, max(values, default=1.0), min(values, default=0.0))
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.x) - 1, 1)
    places = [LEFT + step * i for i in range(len(chart.x))]
    frame.write_months(chart.x, places)
    ends: list[tuple[float, Series]] = []
    for one, dash in zip(chart.series, DASHES, strict=False):
        points = [(x, frame.y(y)) for x, y in zip(places, one.values, strict=True) if y is not None]
        flat = [coordinate for point in points for coordinate in point]
        width = 1.0 if dash else 1.8
        line = PolyLine(flat, strokeColor=INK, strokeWidth=width)
        if dash:
            line.strokeDashArray = dash
        frame.drawing.add(line)
        ends.append((points[-1][1], one))
    lowest = 0.0
    for y, one in sorted(ends, key=lambda end: end[0]):
        lowest = max(y - 2.4, lowest)
        frame.write(WIDTH - RIGHT + 5, lowest, one.name, bold=not one.dashed, colour=INK)
        lowest += LEAST_GAP
    for mark in chart.marks:
        x, y = places[list(chart.x).index(mark.x)], frame.y(mark.y)
        frame.drawing.add(Circle(x, y, 2.6, fillColor=INK, strokeColor=None))
        frame.write(x, y + 6, mark.label, anchor="middle", bold=True, colour=INK)
    return frame.drawing


def draw_bars(chart: Chart) -> Drawing:
    """Stacked bars by month in greys named at the side; dashed series are lines over them."""
    bars = [one for one in chart.series if not one.dashed]
    heights = [sum(one.values[i] or 0.0 for one in bars) for i in range(len(chart.x))]
    over = [value or 0.0 for one in chart.series if one.dashed for value in one.values]
    frame = _Frame(chart, max([*heights, *over], default=1.0))
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.x), 1)
    places = [LEFT + step * i for i in range(len(chart.x))]
    bases = [0.0] * len(chart.x)
    for one, grey in zip(bars, GREYS, strict=False):
        for i, value in enumerate(one.values):
            low, high = frame.y(bases[i]), frame.y(bases[i] + (value or 0.0))
            frame.drawing.add(_rect(places[i], low, step * 0.84, high - low, grey))
            bases[i] += value or 0.0
    for one in (one for one in chart.series if one.dashed):
        flat = [c for x, y in zip(places, one.values, strict=True) if y is not None
                for c in (x, frame.y(y), x + step, frame.y(y))]  # fmt: skip
        frame.drawing.add(PolyLine(flat, strokeColor=INK, strokeWidth=1, strokeDashArray=(3, 2)))
    _name_greys(frame, bars, [one.name for one in chart.series if one.dashed])
    frame.write_months(chart.x, [x + step * 0.42 for x in places])
    return frame.drawing


def _name_greys(frame: _Frame, bars: Sequence[Series], lines: Sequence[str]) -> None:
    x, y = WIDTH - RIGHT + 8, HEIGHT - TOP - 12
    for one, grey in zip(bars, GREYS, strict=False):
        frame.drawing.add(_rect(x, y, 8, 8, grey))
        frame.write(x + 12, y + 1.4, one.name, colour=INK)
        y -= 13
    for name in lines:
        frame.drawing.add(Line(x, y + 4, x + 8, y + 4, strokeColor=INK, strokeDashArray=(3, 2)))
        frame.write(x + 12, y + 1.4, name, colour=INK)
        y -= 13


def draw_scenarios(rows: Sequence[ScenarioRow], currency: str) -> Drawing:
    """A line for each plan: its total as a mark, the range of 8 of 10 cases as a bar."""
    height, left, right = 15.0, 150.0, 150.0
    drawing = Drawing(WIDTH, height * len(rows))
    scale = (WIDTH - left - right) / 100
    for index, row in enumerate(rows):
        y = height * (len(rows) - index) - 10
        font = BOLD if row.is_best else REGULAR
        drawing.add(String(2, y, row.title, fontName=font, fontSize=7, fillColor=INK))
        x = WIDTH - right
        drawing.add(Line(left, y + 2.5, x, y + 2.5, strokeColor=LINE, strokeWidth=0.5))
        if row.span:
            start, at = left + row.span.left * scale, left + row.span.at * scale
            shade = GREYS[1] if row.is_best else GREYS[2]
            drawing.add(_rect(start, y - 0.5, row.span.width * scale, 6, shade))
            drawing.add(Line(at, y - 2.5, at, y + 7.5, strokeColor=INK, strokeWidth=1.4))
        words = money(row.scenario.total_cost, currency)
        if row.range and row.has_range:
            low, high = row.range.total_p10, row.range.total_p90
            words += f" ({money_short(low, '').strip()} – {money_short(high, currency)})"
        drawing.add(String(WIDTH - right + 6, y, words, fontName=font, fontSize=7, fillColor=INK))
    return drawing

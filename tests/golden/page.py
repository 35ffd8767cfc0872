"""The answer's page as a tree that tests read: its text, its tables, its cards, its charts."""

import re
from copy import deepcopy
from dataclasses import asdict
from functools import cache
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from django.http import QueryDict
from django.template.loader import render_to_string

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.web.answer.answer_page import AnswerPage
from tests.golden.answers import answered

_VOID = frozenset({"input", "br", "img", "hr", "meta", "link", "path"})
ON_HOVER = ("term-note",)
"""What the screen shows only on hover: explanations of words."""
NOT_PRINTED = ("no-print", "d-print-none", *ON_HOVER)
"""Classes that the print style sheet hides; of figures it hides the folded table."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        here = SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in _VOID:
            self.open.append(here)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop().tag == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        here = self.open[-1]
        if len(here):
            here[-1].tail = (here[-1].tail or "") + data
        else:
            here.text = (here.text or "") + data


def parse(markup: str) -> Element:
    reader = _Reader()
    reader.feed(markup)
    assert reader.open == [reader.root]
    return reader.root


def render(name: str, shown: str = "") -> Element:
    """The answer as its page shows it; `shown` is the scenario whose plan is laid out."""
    return deepcopy(_tree(name, shown))


def render_answer(answer: ComparisonAnswer, shown: str = "") -> Element:
    """Any answer as its page shows it."""
    return parse(_draw(answer, shown))


@cache
def _tree(name: str, shown: str) -> Element:
    return parse(_draw(answered(name), shown))


def _draw(answer: ComparisonAnswer, shown: str) -> str:
    asked = QueryDict(f"start={answer.start}&horizon_months={answer.horizon_months}")
    context = {"page": AnswerPage(answer, shown, asked), "titles": SCENARIO_TITLES}
    return render_to_string("web/answer/answer.html", context)


def classes(element: Element) -> list[str]:
    return element.get("class", "").split()


def drop(root: Element, names: tuple[str, ...]) -> Element:
    """The tree without elements of these classes, their trailing text left in."""
    for parent in list(root.iter()):
        for child in list(parent):
            if set(classes(child)) & set(names):
                remove(parent, child)
    return root


def remove(parent: Element, child: Element) -> None:
    before = list(parent)[: list(parent).index(child)]
    tail = ("" if child.tag == "span" else " ") + (child.tail or "")
    if before:
        before[-1].tail = (before[-1].tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(child)


def text(element: Element) -> str:
    """Text as a browser shows it, scripts and pictures left out."""
    parts: list[str] = []

    def collect(one: Element) -> None:
        if one.tag not in ("script", "style", "svg"):
            parts.append(one.text or "")
            for child in one:
                collect(child)
                parts.append(child.tail or "")
            if one.tag in ("div", "p", "li", "td", "th", "h2", "h3"):
                parts.append(" ")

    collect(element)
    return re.sub(r"\s+", " ", "".join(parts).replace("\u00a0", " ")).strip()


def find_all(root: Element, name: str) -> list[Element]:
    """Elements of a class."""
    return [one for one in root.iter() if name in classes(one)]


def tables(root: Element) -> dict[str, list[list[str]]]:
    """Label of each table → its rows, the header left out."""
    regions = [one for one in root.iter() if one.get("role") == "region"]
    return {one.get("aria-label", ""): rows(one) for one in regions}


def rows(region: Element) -> list[list[str]]:
    body = region.find(".//tbody")
    assert body is not None
    return [[text(cell) for cell in row] for row in body.findall("tr")]


def table_head(root: Element, label: str) -> list[str]:
    """Header of the table of that label."""
    region = next(one for one in root.iter() if one.get("aria-label") == label)
    return [text(cell) for cell in region.findall(".//thead/tr/th")]


def pairs(block: Element) -> list[list[str]]:
    """Terms of a description list with what is said of each."""
    return [[text(cell) for cell in one] for one in block]


def lists_below(root: Element, heading: str) -> dict[str, list[str]]:
    """Title → items, of the lists that follow a heading in the same element."""
    blocks = (list(one) for one in root.iter())
    return {
        text(parts[0]): [text(item) for item in parts[1].findall("li")]
        for parts in blocks
        if [part.tag for part in parts] == [heading, "ul"]
    }


def documents(name: str, shown: str = "") -> dict[str, dict[str, Any]]:
    """Key of each chart of a page → what its picture and its table are drawn from."""
    return {one.key: asdict(one) for one in AnswerPage(answered(name), shown).charts}

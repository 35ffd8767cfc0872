"""Numbers of a page that stand without their unit, found in its text as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from tests.golden.page import classes, drop, parse, remove, text

NUMBER = re.compile(r"(?<![\w.,:/@#×~^=+-])[−-]?\d[\d,]*(?:\.\d+)?(?![\w/:@]|[.,-]\w)")
"""A number by itself: `H100`, `p5.48xlarge`, `2027-01` and links hold none."""
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_UNITS = (
    r"MHz|cores|USD|EUR|GBP|CHF|k|M|bn|h|hours?|days?|months?|years?|weeks?|minutes?|seconds?|s|GiB|GB|TB|MB|kW|W|"
    r"kWh|U|TFLOPs?|GFLOPs?|FLOPs?|kg|t|FTE|billion|million|tokens?|parameters?|samples?|epochs?|"
    r"(?:useful )?fractions?|share of|standard deviation of|choice|"
    r"layers|runs?|jobs?|times|characters|digits"
)
_THINGS = (
    r"accelerators|accelerator-hours|machine-hours|node-hours|machines|nodes|servers|cards|GPUs|"
    r"units|people|members|projects|plans|variants|offers|prices|rows|files|regions|cases|"
    r"outcomes|comparisons|commitments|fields|attempts|alerts"
)
_SINGULAR = (
    r"accelerator|node-hour|machine|node|server|card|GPU|unit|person|member|project|plan|variant|"
    r"offer|price|row|file|region|comparison|commitment|field|alert|virtual|simulated|representative|"
    r"rental offers|on-demand offers|new servers?|of them|added|gone|dearer|cheaper|changed"
)
UNIT = re.compile(rf"^\s*(?:%|×|°|(?:{_UNITS}|{_THINGS}|{_SINGULAR})\b)")
"""What may follow a number: its currency, its unit, or the things that it counts."""
NAMES_UNIT = re.compile(
    rf"\b(?:(?:{_UNITS}|GB/s|TFLOP/s|TFLOP-hour)\b|(?i:hours?|days?|months?|years?|runs|tokens|"
    rf"{_THINGS}|count|quantity|revision|edition|rank|ratio|seed|futures)\b)|%|×"
)
"""What the head of a column or row, a label or a caption says that gives its numbers a unit."""
_DATES = (
    rf"\d+ {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{4}}|"
    r"(?:\b(?:in|since|of|from|to|until)|,) (?:19|20)\d\d\b|"
    r"\((?:19|20)\d\d(?:, assumption)?\)"
)
_NUMBERING = (
    r"\b[Pp]age \d+ of \d+|\brevision \d+|"
    r"^\d · |\b(?:[Ee]dition|[Rr]evision|[Vv]ersion|[Rr]un|[Ss]erver|"
    r"[Dd]iscount|[Oo]ffer|[Bb]udget|[Rr]ow|[Qq]uota|[Cc]ommitment|[Cc]redit|[Ss]pend|[Ll]ease|"
    r"[Cc]ost) \d+$"
)
_NAMES = (
    r"\bp(?:10|50|90)\b|\b\d+ of 10 cases|\b(?:RTX|RTX PRO|GTX|GT|RX) \d+|\bAda \d+|"
    r"\bFOCUS \d\.\d|\bLlama \d|\b(?:rack|system) of \d+ \(|\b\d+ chips \(|"
    r"\b(?:East|West|Central|North|South) (?:US )?\d|\b[A-Z][a-z]+ US \d|\d nvidia-|"
    r"\b(?:Cloud AI|Gaudi|Trainium|Inferentia) ?\d+"
)
_PARTS = rf"(?:(?<=, )|(?<=and ))\d+ in {_MONTH} \d{{4}}|\b\d+(?= of the \d+ [a-z])"
"""Of what was counted with its name before: `4 × p5.48xlarge, 1 in July 2027 and 3 in May 2028`."""
NEEDS_NONE = re.compile(rf"{_DATES}|{_NUMBERING}|{_NAMES}|{_PARTS}")
"""Dates, numbers of a list's entries, names that end in a number, and parts of what is counted."""
QUOTED = ("source", "how", "term-note")
"""Classes of text that cites: where a figure comes from, in the words of its source."""
_LEAVES = ("p", "li", "dd", "td", "th", "h1", "h2", "h3", "summary", "figcaption", "label", "small")
_SILENT = ("script", "style", "select", "datalist", "option", "code", "pre", "math", "textarea")


def main_of(markup: str) -> Element:
    """What stands between header and footer of a page."""
    return parse(markup[markup.index("<main") : markup.index("</main>") + len("</main>")])


def bare_numbers(page: Element) -> list[str]:
    """Each number without a unit, with the words around it."""
    root = drop(page, QUOTED)
    for parent in list(root.iter()):
        for child in [one for one in parent if one.tag in _SILENT]:
            remove(parent, child)
    parents = {child: parent for parent in root.iter() for child in parent}
    leaves = [one for one in root.iter() if one.tag in _LEAVES and _is_last(one)]
    return [one for leaf in leaves for one in _bare(text(leaf), " ".join(_beside(leaf, parents)))]


def _is_last(one: Element) -> bool:
    """Whether no other piece of text lies within it."""
    return not any(below.tag in _LEAVES for below in one.iter() if below is not one)


def _above(one: Element, parents: dict[Element, Element]) -> Iterator[Element]:
    while one in parents:
        one = parents[one]
        yield one


def _bare(words: str, beside: str) -> Iterator[str]:
    if NAMES_UNIT.search(beside):
        return
    named = [match.span() for match in NEEDS_NONE.finditer(words)]
    for match in NUMBER.finditer(words):
        rest = words[match.end() :]
        is_named = any(low <= match.start() < high for low, high in named)
        if not (is_named or UNIT.match(rest) or _shares_a_unit(rest)):
            yield f"{words[max(0, match.start() - 40) : match.start()]}[{match[0]}]{rest[:30]}"


def _shares_a_unit(rest: str) -> bool:
    """`885 to 31,156 USD`, `3 of 12 months`, `120, 130 and 140 h`: the last has the unit."""
    joint = re.match(r"\s*(?:to|–|and|or|of its|of|,)\s*", rest)
    last = NUMBER.match(rest, joint.end()) if joint else None
    if last is None:
        return False
    return bool(UNIT.match(rest[last.end() :])) or _shares_a_unit(rest[last.end() :])


def _beside(leaf: Element, parents: dict[Element, Element]) -> Iterator[str]:
    """Heads of column and row, title of a term, unit of a box, caption of a table."""
    parent = parents[leaf]
    if leaf.tag in ("td", "th"):
        yield from (text(one) for one in parent if one.tag == "th" and one is not leaf)
        yield from _of_column(leaf, parent, parents)
    if leaf.tag == "dd":
        yield from (text(term) for term in parent.findall("dt"))
    for up in _above(leaf, parents):
        if up.tag == "figure":
            yield from (text(p) for p in up.iter("p") if text(p).startswith("Figures:"))
        if up.tag == "table":
            yield from (text(caption) for caption in up.iter("caption"))
    if leaf.tag in ("small", "label"):
        yield from (text(one) for one in parent.iter() if "input-group-text" in classes(one))


def _of_column(cell: Element, row: Element, parents: dict[Element, Element]) -> Iterator[str]:
    table = next((up for up in _above(row, parents) if up.tag == "table"), None)
    titles = [] if table is None else [text(head) for head in table.findall(".//thead/tr/th")]
    at = list(row).index(cell)
    yield from titles[at : at + 1]
    if "Unit" in titles and titles.index("Unit") < len(row):
        yield text(row[titles.index("Unit")])

"""Numbers as people of any country type them, in the one spelling that code reads. PURE.

A mark that is there twice groups thousands; where both marks are there, the last one is the
decimal mark. A single comma before three digits groups thousands, before any other number of
digits it is the decimal mark.
"""

from __future__ import annotations

import re

_GROUP = "_ \u00a0\u202f'\u2019"
_ENGLISH = re.compile(rf"[+-]?\d{{1,3}}([,{_GROUP}]\d{{3}})+(\.\d+)?")
_CONTINENTAL = re.compile(rf"[+-]?(\d+|\d{{1,3}}([.{_GROUP}]\d{{3}})+),\d+")
_DOTS = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}")
_ONE_DOT = re.compile(r"\d{1,3}\.\d{3}")


def plain_number(text: str) -> str:
    """A number without grouping marks and with a decimal point; any other text as it is.

    >>> plain_number("1,250,000"), plain_number("1.250.000"), plain_number("1'250 000")
    ('1250000', '1250000', '1250000')
    >>> plain_number("1.000,50"), plain_number("1,000.50"), plain_number("0,25")
    ('1000.50', '1000.50', '0.25')
    >>> plain_number("1,500"), plain_number("2.345"), plain_number("many, or few")
    ('1500', '2.345', 'many, or few')
    """
    if _ENGLISH.fullmatch(text):
        return re.sub(rf"[,{_GROUP}]", "", text)
    if _CONTINENTAL.fullmatch(text) or _DOTS.fullmatch(text):
        return re.sub(rf"[.{_GROUP}]", "", text).replace(",", ".")
    return text


def spell_out(text: str) -> str:
    """An amount whose point may be the mark of thousands or of decimals, as a question that no
    number is; any other text as it is. Nobody plans a budget to a tenth of a cent.

    >>> spell_out("300.000"), spell_out("300000"), spell_out("300.50")
    ('300.000: 300 or 300000?', '300000', '300.50')
    """
    if not _ONE_DOT.fullmatch(text):
        return text
    whole, _, rest = text.partition(".")
    return f"{text}: {whole} or {whole}{rest}?"

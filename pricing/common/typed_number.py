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
_ROUND_DOT = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_ONE_COMMA = re.compile(r"(\d+),(\d+)")


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
    """An amount or a count whose point may be the mark of thousands or of decimals, as a question
    that no number is; any other text as it is. Nobody plans to a tenth of a cent.

    >>> spell_out("300.000"), spell_out("300000"), spell_out("300.50")
    ('300.000: 300 or 300000?', '300000', '300.50')
    """
    if not _ONE_DOT.fullmatch(text):
        return text
    return f"{text}: {_plain(text)} or {text.replace('.', '')}?"


def spell_out_round(text: str) -> str:
    """The same for figures that may well have three decimals: only those that end in 0, which no
    program writes and hardly anybody types.

    >>> spell_out_round("1.500"), spell_out_round("1.085"), spell_out_round("0.250")
    ('1.500: 1.5 or 1500?', '1.085', '0.250')
    """
    return spell_out(text) if _ROUND_DOT.fullmatch(text) else text


def spell_out_pair(text: str) -> str:
    """Two numbers with a bare comma between them, or one with a decimal comma, as a question.

    >>> spell_out_pair("10,25"), spell_out_pair("1,460"), spell_out_pair("10, 25")
    ('10,25: 10.25, or 10 and 25?', '1,460', '10, 25')
    """
    pair = _ONE_COMMA.fullmatch(text)
    if pair is None or _ENGLISH.fullmatch(text):
        return text
    return f"{text}: {pair[1]}.{pair[2]}, or {pair[1]} and {pair[2]}?"


def write_out(number: float) -> str:
    """A number as `spell_out` has nothing to ask about.

    >>> write_out(123.456), write_out(0.5), write_out(1250000.0)
    ('123.4560', '0.5', '1250000.0')
    """
    text = repr(number)
    return f"{text}0" if _ONE_DOT.fullmatch(text) else text


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".")

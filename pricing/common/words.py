"""Small grammar for what people read. PURE."""

from __future__ import annotations


def pluralize(number: int, one: str, many: str = "") -> str:
    """So many of something.

    >>> pluralize(1, "region"), pluralize(1200, "region"), pluralize(0, "family", "families")
    ('1 region', '1,200 regions', '0 families')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def capitalize_first(text: str) -> str:
    """The text with a capital, the rest as it is.

    >>> capitalize_first("servers in the EU"), capitalize_first("")
    ('Servers in the EU', '')
    """
    return text[:1].upper() + text[1:]


def as_sentence(note: str) -> str:
    """The note with a capital and a full stop; a name or a field at its beginning stays as it is.

    >>> as_sentence("5 would hold it: 6 are used instead"), as_sentence("sized for one run")
    ('5 would hold it: 6 are used instead.', 'Sized for one run.')
    >>> as_sentence("nvidia-h100 is sold elsewhere."), as_sentence("")
    ('nvidia-h100 is sold elsewhere.', '')
    """
    first = note.partition(" ")[0].rstrip(",:;.")
    text = capitalize_first(note) if first.isalpha() and first.islower() else note
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."

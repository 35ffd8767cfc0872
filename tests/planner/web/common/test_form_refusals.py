"""What is refused of a box: its label, the value as it was typed, and what would do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict

from planner.models import Role
from planner.web import urls  # noqa: F401 - every page, and with it every form
from planner.web.common.forms import Form, describe_refusals
from planner.web.team.forms import InviteForm, NoteForm, TokenForm

_OF_DJANGO = re.compile(
    "(This |Ensure |Enter |Select |The submitted |No file was|Upload |List of|Null|Date |Value )"
)
_WRONG = ("", " ", "x", "-1", "1e99", "nan", "a" * 3000, "2026-99-99", "é è", "a\x00b")


def every_form() -> Iterator[type[Form]]:
    waiting = [Form]
    while waiting:
        form = waiting.pop()
        waiting += form.__subclasses__()
        if form.__module__.startswith("planner."):
            yield form


def refused(form: type[forms.Form], values: Any, files: dict[str, Any]) -> list[str]:
    """What a form without the choices of a request says of these values."""
    bare = type(form.__name__, (forms.Form,), deepcopy(form.base_fields))(values, files)
    return [words for field in bare.visible_fields() for words in describe_refusals(field)]


@pytest.mark.parametrize("form", list(every_form()), ids=lambda form: form.__name__)
def test_no_box_answers_in_the_words_of_the_framework(form: type[Form]) -> None:
    for wrong in ([], ["x", "y"], *([one] for one in _WRONG)):
        told = refused(form, MultiValueDict(dict.fromkeys(form.base_fields, wrong)), {})
        assert [words for words in told if _OF_DJANGO.match(words)] == []
    for file in (SimpleUploadedFile("empty.csv", b""), "no file"):
        told = refused(form, {}, dict.fromkeys(form.base_fields, file))
        assert [words for words in told if _OF_DJANGO.match(words)] == []


@pytest.mark.parametrize(
    ("form", "name", "told"),
    [
        (NoteForm({}), "name", "“Name” is empty; fill it in."),
        (NoteForm({"name": "a" * 123}), "name", "at most 120 are allowed; take out 3."),
        (NoteForm({"name": f"  {'a' * 123}  "}), "name", "123 characters, of which at most 120"),
        (NoteForm({"name": "a\x00b"}), "name", "“Name” holds a NUL character, which nobody sees;"),
        (InviteForm({"days": "1000"}), "days", "“Valid for” cannot be '1000' days; type 1 to 90."),
        (InviteForm({"days": "x"}), "days", "'x' days, which is not a whole number; type one such"),
        (InviteForm({"role": "boss"}), "role", "'boss' is no choice under “Role”; choose Viewer: "),
        (InviteForm({"email": "ada"}), "email", "given as 'ada', which is not an address of mail;"),
        (TokenForm({"scopes": ["fly"]}, own=Role.OWNER), "scopes", "'fly' is no choice under “M"),
    ],
)
def test_a_refusal_names_box_value_and_remedy(form: Form, name: str, told: str) -> None:
    (words,) = describe_refusals(form[name])
    assert told in words

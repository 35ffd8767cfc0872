"""How the fields of forms are drawn with the classes of the CSS kit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms, template
from django.forms.boundfield import BoundField
from django.utils.safestring import SafeString

from planner.web.common.widgets.refusals import describe_refusals

register = template.Library()


def _class(field: BoundField) -> str:
    widget = field.field.widget
    if isinstance(widget, forms.CheckboxInput):
        css = "form-check-input"
    elif isinstance(widget, forms.Select):
        css = "form-select"
    else:
        css = "form-control"
    return f"{css} is-invalid" if field.errors else css


@register.filter
def styled(field: BoundField) -> SafeString:
    """The field's box."""
    return field.as_widget(attrs={"class": _class(field)})


@register.filter
def refusals(field: BoundField) -> list[str]:
    """What is wrong with the value of a box, and what would do."""
    return list(describe_refusals(field))


@register.filter
def is_check(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxInput)


@register.filter
def is_group(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxSelectMultiple | forms.RadioSelect)


@register.filter
def is_wide(field: BoundField) -> bool:
    """Whether the field takes a whole line of a grid."""
    return isinstance(field.field.widget, forms.Textarea) or is_group(field)


@register.filter
def button_class(attrs: Mapping[str, Any]) -> str:
    """The classes of a button that an account page names by tags and type.

    >>> button_class({"tags": "delete", "type": "submit"}), button_class({"type": "submit"})
    ('btn btn-danger', 'btn')
    >>> button_class({"tags": "prominent,login", "type": "submit"})
    'btn btn-primary'
    """
    tags = str(attrs.get("tags") or "")
    if "delete" in tags or "danger" in tags:
        return "btn btn-danger"
    is_main = attrs.get("type") == "submit" and tags and "secondary" not in tags
    return "btn btn-primary" if is_main else "btn"

"""Exports as files to save."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import FORMATS, Context, export

_SCHEMAS = dict.fromkeys(("csv", "focus", "focus14", "commitments"), OpenApiTypes.STR) | {
    "json": OpenApiTypes.OBJECT
}
EXPORT_SCHEMA = {
    (200, entry.content_type.split(";")[0]): _SCHEMAS.get(form, OpenApiTypes.BINARY)
    for form, entry in FORMATS.items()
}


SCENARIO = OpenApiParameter(
    "scenario", str, description="FOCUS rows of this scenario; of the recommended one when absent."
)


def download(answer: ComparisonAnswer, context: Context, form: str) -> HttpResponse:
    """The export of an answer, offered to be saved under the comparison's name."""
    entry = FORMATS[form]
    response = HttpResponse(export(answer, context, form), content_type=entry.content_type)
    name = f"{slugify(context.name)[:60] or 'comparison'}.{entry.suffix}"
    response["Cache-Control"] = "private, no-store"
    response["Content-Disposition"] = content_disposition_header(True, name) or ""
    return response

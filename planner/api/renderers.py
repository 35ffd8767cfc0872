"""How an answer is written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer

from planner.contract.answer.common import AnswerModel

_NOT_JSON = (b"NaN", b"Infinity")
"""What a figure that is no number would be written as, which only names may hold."""


class RenderedJson(str):
    """JSON that was written before, an answer that is kept."""


class AnswerRenderer(JSONRenderer):
    """JSON of plain values, and of an answer at once, without plain values between: an answer of
    3 years has 30,000 of them."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The JSON of `data`; raises `ValueError` where a figure is no number."""
        context = renderer_context or {}
        is_plain = not self.get_indent(accepted_media_type or "", context)
        if isinstance(data, RenderedJson):
            if is_plain:
                return data.encode()
            return super().render(json.loads(data), accepted_media_type, context)
        if not isinstance(data, AnswerModel):
            return super().render(data, accepted_media_type, context)
        if is_plain:
            body = data.model_dump_json().encode()
            if not any(word in body for word in _NOT_JSON):
                return body
        return super().render(data.model_dump(mode="json"), accepted_media_type, context)

"""Answers as the API gives them: the verdict and totals, and the tables that `include` names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from planner.api.media import RenderedJson
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.tables import drop, leave_out, read_include
from pricing.api.pages import RateLimited
from pricing.api.rest import Query

INCLUDE = OpenApiParameter(
    "include",
    str,
    description="Tables of the answer, with commas, or `all`; an unknown name is refused with the "
    "list.",
)
_NOT_JSON = (b"NaN", b"Infinity")
"""What a figure that is no number would be written as, which only names may hold."""
KINDS: Mapping[str, type[AnswerModel]] = {
    "comparison": ComparisonAnswer,
    "portfolio": PortfolioAnswer,
}
"""Kind of job → the kind of answer that its result holds."""


class AnswerView(RateLimited):
    """A view whose answer, where `answers` says of which kinds it is, takes `include`."""

    answers: ClassVar[tuple[type[AnswerModel], ...]] = ()
    tables: ClassVar[tuple[str, ...]] = ()
    """What `include` may name beside the tables of the answers."""
    parameters: ClassVar[tuple[str, ...]] = ()

    def read_query(self, request: Request) -> None:
        """Refuses unknown query parameters and tables."""
        self.query = Query(request, *self.allowed_parameters())
        names = self.query.words("include") if self.gives_answer() else ()
        self.include = read_include(names, *self.answers, beside=self.tables)

    def allowed_parameters(self) -> tuple[str, ...]:
        return (*self.parameters, "include") if self.gives_answer() else self.parameters

    def gives_answer(self) -> bool:
        return bool(self.answers)


def render_answer(answer: AnswerModel, include: Collection[str]) -> RenderedJson:
    """An answer with the tables that are included, written at once: one of 3 years has 30,000
    values. Raises `ValueError` where a figure is no number."""
    left_out = leave_out(type(answer), include)
    body = answer.model_dump_json(exclude=left_out)
    if any(word in body.encode() for word in _NOT_JSON):
        values = answer.model_dump(mode="json", exclude=left_out)
        body = JSONRenderer().render(values).decode()
    return RenderedJson(body)


def show_result(kind: str, result: Any, include: Collection[str]) -> Any:
    """The result of a job with the tables that are included."""
    model = KINDS.get(kind)
    if model is None or not isinstance(result, dict):
        return result
    return drop(result, leave_out(model, include))


class PartField(serializers.JSONField):
    """A part of a record as a model describes it, or with `many` a list of them; read only. One
    that may be missing is `required=False`: the document takes what is read only for always there.
    Of an answer it gives what the view includes."""

    def __init__(
        self, model: type[BaseModel], *, many: bool = False, required: bool = True, **options: Any
    ) -> None:
        super().__init__(read_only=required, required=None if required else False, **options)
        self.model, self.many = model, many

    def to_representation(self, value: Any) -> Any:
        if self.many or not issubclass(self.model, AnswerModel):
            return value
        left_out = leave_out(self.model, getattr(self.context.get("view"), "include", ()))
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json", exclude=left_out)
        return drop(value, left_out) if left_out else value

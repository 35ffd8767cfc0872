"""Fields that refuse what JSON allows and we cannot use."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pydantic import BaseModel
from rest_framework import serializers

from planner.contract.answer.common import AnswerModel


class ObjectField(serializers.JSONField):
    """A JSON object, judged by the service that it is for; `model` says what it looks like."""

    default_error_messages = {"not_object": "This is not an object."}

    def __init__(self, model: type[BaseModel] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.model = model

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_object")
        return data


class ObjectsField(serializers.JSONField):
    """A list of JSON objects, judged by the service that it is for; `model` describes one."""

    default_error_messages = {"not_objects": "This is not a list of objects."}

    def __init__(self, model: type[BaseModel] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.model = model

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
            self.fail("not_objects")
        return data


class ModelField(serializers.Field[Any, Any, Any, Any]):
    """A part of an answer, as the contract's model describes it; read only. One that an answer
    may lack is `required=False`: the document takes what is read only for always there."""

    def __init__(
        self,
        model: type[AnswerModel],
        *,
        many: bool = False,
        required: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(read_only=required, required=None if required else False, **options)
        self.model = model
        self.many = many

    def to_representation(self, value: Any) -> Any:
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json")
        return value


class FiniteField(serializers.FloatField):
    """A number that is neither NaN nor infinite, whatever it is written like."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not isfinite(value):
            self.fail("invalid")
        return value


def name_field(**options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=120, **options)


def currency_field(**options: Any) -> serializers.CharField:
    messages: dict[str, Any] = {"invalid": "is not a currency of three letters, like USD"}
    return serializers.RegexField(r"^[A-Z]{3}\Z", error_messages=messages, **options)

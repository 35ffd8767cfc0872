"""What the API's document says of a refusal."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from pricing.common.problems import TYPE


class ProblemErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField(
        help_text="required, unknown_field, unknown_value, out_of_range, wrong_type, invalid, or "
        "more for what is not listed."
    )
    value = serializers.JSONField(help_text="The plain value that was refused; null for any other.")
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True, help_text="What would do; may be empty.")


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457 problem details; `errors` names each field that was refused."""

    type = serializers.CharField(help_text=f"`{TYPE}` and the code.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(
        help_text="What kind of refusal it is, such as invalid_request, not_authenticated, "
        "not_found, conflict or throttled."
    )
    detail = serializers.CharField(allow_blank=True)
    remedy = serializers.CharField(allow_blank=True, help_text="What would do; may be empty.")
    errors = ProblemErrorSerializer(many=True)  # type: ignore[assignment]

"""Files of usage: what they say, and the demand that follows. Nothing of them is stored."""

from __future__ import annotations

from typing import Any, BinaryIO

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.serializers.usage import UsageFilesSerializer, UsageSerializer
from planner.api.uploads import CsvParser, FileParser, FilesParser
from planner.api.views.comparisons import MarketView
from planner.services.teams.team_rates import rules_of
from planner.services.work_budget import stop_where_nobody_waits
from planner.usage.demand.forecast import MAX_MONTHS
from planner.usage.projects import DEFAULT_SOURCES, ProjectRule
from planner.usage.question import (
    DEFAULT_BY,
    WAITING_BYTES,
    WAITING_FILES,
    WAITING_ROWS,
    UsageQuestion,
    answer_usage,
)
from pricing.api.rest import Query
from pricing.api.schema import number_to, parameter
from pricing.common.invalid_input import InvalidInput

_TEXTS = {
    "file_name": "Name of the file, for messages; files in parts state their own.",
    "by": f"What use is summed by, with commas; default {','.join(DEFAULT_BY)}.",
    "project_by": "Where a project's name stands, in order: tag:NAME, account, user.",
    "rename": "PATTERN=NAME, with commas: one name for the projects of a pattern.",
    "map": "COLUMN=NAME, with commas: other names for columns of one's own table.",
    "fields": "Columns of a log of Slurm without a header, with commas.",
    "unit": "Unit of a report that does not state it.",
    "month": "Month of a report that does not state it.",
    "forecast_months": f"Months to forecast, 0 for none; default {UsageQuestion.forecast_months}.",
    "start": "First month of the forecast; default the next one.",
    "accelerator": "Accelerator to forecast, by its name in the answer.",
    "past_run": "MONTH=HOURS[:NAME], with commas: work that will not come again.",
    "team": "A team of yours, whose rules say which rows belong to which project.",
    "rule": "SOURCE:PATTERN=PROJECT, with commas: rules before those of the team.",
    "idle_price": "What an idle accelerator-hour costs where no bill says it, such as 1.95 EUR.",
    "commitment_end": "COMMITMENT=MONTH, with commas: when signed commitments end.",
    "add_run": "MONTH=HOURS[:NAME], with commas: work that is known to come.",
}

_MONTH = {"type": "string", "pattern": r"^\d{4}-\d{2}$"}
_KINDS = {
    "forecast_months": number_to(MAX_MONTHS, "integer"),
    "month": _MONTH,
    "start": _MONTH,
}


class UsageView(MarketView):
    parser_classes = (CsvParser, FileParser, FilesParser)
    throttle_cost = 10
    too_large_hint = "send the file compressed (gzip), or fewer months of it"

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY, "text/csv": OpenApiTypes.STR}
        | {"multipart/form-data": UsageFilesSerializer},
        parameters=[
            parameter(name, text, _KINDS.get(name, OpenApiTypes.STR))
            for name, text in _TEXTS.items()
        ],
        responses=UsageSerializer,
    )
    def post(self, request: Request) -> Response:
        """Hours, costs and demand from a bill or a cluster log of any form that is read.

        The body is the file itself, compressed or not; or several as multipart/form-data, each a
        part named `file`, which are added up as the page and the command do: a file or a row that
        is there twice counts once. They are read and forgotten.
        """
        query = Query(request, *_TEXTS)
        question = _read(query, rules_of(self.team(request, *_TEXTS)))
        answer = answer_usage(
            _files(request, query.text("file_name") or ""),
            question,
            timezone.now().date(),
        )
        return Response(answer.as_dict())


def _files(request: Request, name: str) -> list[tuple[str, BinaryIO]]:
    if (request.content_type or "").lower().startswith(FilesParser.media_type):
        return FilesParser.files_of(request, WAITING_FILES)
    return [(name[:200], FileParser.stream_of(request))]


def _read(query: Query, team_rules: tuple[ProjectRule, ...]) -> UsageQuestion:
    months = query.text("forecast_months")
    if months and not (months.isascii() and months.isdecimal() and len(months) < 4):
        raise InvalidInput("forecast_months", f"{months[:40]!r} is not a number of months")
    values: dict[str, Any] = {
        name: query.words(name)
        for name in ("rename", "map", "fields", "past_run", "add_run", "rule", "commitment_end")
    }
    return UsageQuestion(
        by=query.words("by") or DEFAULT_BY,
        project_by=query.words("project_by") or DEFAULT_SOURCES,
        unit=query.text("unit") or "",
        month=query.text("month") or "",
        forecast_months=int(months) if months else UsageQuestion.forecast_months,
        start=query.text("start") or "",
        idle_price=query.text("idle_price") or "",
        team_rules=team_rules,
        accelerator=query.text("accelerator"),
        max_bytes=WAITING_BYTES,
        max_rows=WAITING_ROWS,
        on_rows=stop_where_nobody_waits,
        **values,
    )

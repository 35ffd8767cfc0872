"""`Idempotency-Key`: a creation that is sent twice happens once.

The key is taken first, then the view prepares, however long it computes, with the database free
for others. What it gives back writes and answers (`Write`): what is written and the answer that is
kept of it are committed together, so that a process that is killed leaves both or neither. A view
that writes nothing gives its answer at once.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.callers import access_of_request
from planner.api.media import FILE, AnswerRenderer, RenderedJson
from planner.models import IdempotencyRecord
from planner.services.housekeeping.retention import IDEMPOTENCY_RETENTION
from planner.services.teams.access import WrongStateError
from pricing.common.invalid_input import InvalidInput

HEADER = "Idempotency-Key"
_ABANDONED_AFTER = dt.timedelta(seconds=45)
"""A request that is not answered after so long may be sent again; should it end after all, it
finds that its key is another's, and nothing of it is written."""
_STORED_HEADERS = ("Location", "ETag", "Retry-After")

Write = Callable[[], Response]
"""Writes what a request asks for and gives the answer; short, since others wait meanwhile."""
View = Callable[..., Response]


def idempotent(method: Callable[..., Response | Write]) -> View:
    """Gives the stored answer to a repeated key and body, 409 to the key with another body.

    Only successes are stored, byte for byte.
    """

    @wraps(method)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and not (1 <= len(key) <= 200 and key.isascii() and key.isprintable()):
            raise InvalidInput(HEADER, "is not 1 to 200 printable ASCII characters")
        access = access_of_request(request)
        if key is None or access.is_anonymous:
            return _finish(method(view, request, *args, **kwargs))
        record, is_new = _claim(access.key, key, _digest(request))
        if not is_new:
            return Response(RenderedJson(record.body), status=record.status, headers=record.headers)
        try:
            prepared = method(view, request, *args, **kwargs)
            with transaction.atomic():
                response = _finish(prepared)
                _store(record, response)
        except BaseException:
            record.delete()
            raise
        return response

    answer.is_idempotent = True  # type: ignore[attr-defined]
    return answer


def _finish(prepared: Response | Write) -> Response:
    return prepared if isinstance(prepared, Response) else prepared()


def _digest(request: Request) -> str:
    file = request.FILES.get(FILE)
    if file is None:
        body = json.dumps(request.data, sort_keys=True, default=str)
    else:
        body = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.seek(0)
    text = f"{request.method} {request.get_full_path()}\n{body}"
    return hashlib.sha256(text.encode()).hexdigest()


def _claim(owner: str, key: str, digest: str) -> tuple[IdempotencyRecord, bool]:
    now = timezone.now()
    rows = IdempotencyRecord.objects.filter(owner=owner)
    rows.filter(created_at__lt=now - IDEMPOTENCY_RETENTION).delete()
    rows.filter(status=None, created_at__lt=now - _ABANDONED_AFTER).delete()
    try:
        with transaction.atomic():
            return IdempotencyRecord.objects.create(owner=owner, key=key, digest=digest), True
    except IntegrityError:
        record = rows.filter(key=key).first()
    if record is None:
        raise WrongStateError(
            f"The first request with this {HEADER} has just failed; send it again."
        )
    if record.digest != digest:
        raise WrongStateError(f"This {HEADER} was used for another request; choose a new one.")
    if record.status is None:
        raise WrongStateError(f"The first request with this {HEADER} is still being answered.")
    return record, False


def _store(record: IdempotencyRecord, response: Response) -> None:
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        record.delete()
        return
    body = AnswerRenderer().render(response.data).decode()
    headers = {n: response[n] for n in _STORED_HEADERS if response.has_header(n)}
    is_ours = IdempotencyRecord.objects.filter(pk=record.pk, status=None).update(
        status=response.status_code, body=body, headers=headers
    )
    if not is_ours:
        taken = f"It took so long that another request took this {HEADER}; nothing is done."
        raise WrongStateError(taken)

"""202: the work goes on, and this is where to ask for it."""

from __future__ import annotations

from http import HTTPStatus

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.serializers.operations import JobSerializer
from planner.models import Job

POLL_AFTER_SECONDS = 1


def accepted(job: Job) -> Response:
    where = reverse("api:job-detail", kwargs={"pk": job.pk})
    headers = {"Location": where, "Retry-After": str(POLL_AFTER_SECONDS)}
    return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED, headers=headers)


def wants_job(request: Request) -> bool:
    """Whether the caller would rather poll a job: `Prefer: respond-async` (RFC 7240)."""
    preferences = str(request.META.get("HTTP_PREFER", "")).lower().replace(";", ",").split(",")
    return "respond-async" in [preference.strip() for preference in preferences]

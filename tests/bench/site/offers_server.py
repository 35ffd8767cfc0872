"""The site with one view more: the floor that the offers endpoint is held against.

Served by bench_offers_endpoint: `gunicorn tests.bench.site.offers_server:application`.
"""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from django.urls import include, path  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from pricing.models import Listing  # noqa: E402


class FloorView(APIView):
    """The same authentication, one indexed query of 20 rows, plain values."""

    def get(self, request: Request) -> Response:
        rows = Listing.objects.filter(pk__gte=1000).order_by("pk").values()[:20]
        return Response({"results": list(rows)})


urlpatterns = [path("floor/", FloorView.as_view()), path("", include("planner.urls"))]
settings.ROOT_URLCONF = "tests.bench.site.offers_server"

"""What every view of the API answers to."""

from __future__ import annotations

from rest_framework.views import APIView

METHODS = ("get", "post", "patch", "delete", "head")
"""What a route may be asked; OPTIONS is not answered, so that `Allow` does not name it."""


class PlainView(APIView):
    """One route of the API."""

    http_method_names = METHODS

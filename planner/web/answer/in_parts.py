"""The page of an answer in two parts: what is advised is sent while the rest is computed.

Both parts are of one template, drawn twice and cut at `REST`. The first is drawn before anything
is sent, so that what is refused or fails until then has its own status.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Iterator

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.text import StreamingBuffer

from planner.services.observability import logs
from planner.services.projects.comparisons import ComparisonOutcome
from planner.web.common.views import describe_refusal

REST = "<!-- the rest of the answer -->"
Draw = Callable[[ComparisonOutcome, str], str]
"""The whole page of an outcome; with a word of what went wrong, or `OPENING`, without the rest."""
OPENING = "opening"
OURS = "The error is ours and has been logged under {}. Load the page again."
logger = logging.getLogger(__name__)


def send_in_parts(
    request: HttpRequest, steps: Iterator[ComparisonOutcome], draw: Draw
) -> StreamingHttpResponse:
    """The page as `draw` draws it: until `REST` of the first step, then of the last."""
    first = next(steps)
    opening = draw(first, OPENING).partition(REST)[0]
    reference: str = request.request_id  # type: ignore[attr-defined]

    def finish() -> str:
        try:
            *_, whole = first, *steps
            problem = "; ".join(map(describe_refusal, whole.errors))
            return draw(first, problem) if problem else draw(whole, "")
        except Exception:
            with logs.use_request_id(reference):
                logger.exception("The rest of an answer failed.")
            return draw(first, OURS.format(reference))

    def parts() -> Iterator[str]:
        yield opening
        yield finish().partition(REST)[2]

    response = StreamingHttpResponse(parts())
    response["X-Accel-Buffering"] = "no"  # A proxy passes each part on at once.
    patch_vary_headers(response, ("Accept-Encoding",))
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response["Content-Encoding"] = "gzip"
        response.streaming_content = _compress(parts())
    return response


def _compress(parts: Iterator[str]) -> Iterator[bytes]:
    """What the framework's own middleware does, but each part sent when it is there."""
    buffer = StreamingBuffer()
    with gzip.GzipFile(mode="wb", compresslevel=6, fileobj=buffer, mtime=0) as file:
        for part in parts:
            file.write(part.encode())
            file.flush()
            yield buffer.read()
    yield buffer.read()

"""The site with a meter around it: what each request took, in headers of its answer.

Served by `tests.attack.server`: `gunicorn tests.attack.site:application`. Both are the
worker's own, and thus bounds from above where it answers several at once: its processor time, and
its highest memory during the request above what it had before.
"""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

settings.STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
_site = get_wsgi_application()
_STATUS = Path("/proc/self/status")


def _memory_mb(name: str) -> float:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers whole, so that what a stream takes is counted too."""
    started: list[Any] = []
    Path("/proc/self/clear_refs").write_text("5")
    before, cpu = _memory_mb("VmRSS"), time.process_time()
    answer = _site(environ, lambda *head: started.append(head))
    try:
        body = b"".join(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    status, headers, *more = started[0]
    meter = [
        ("X-Cpu-Seconds", f"{time.process_time() - cpu:.3f}"),
        ("X-Growth-Mb", f"{max(0.0, _memory_mb('VmHWM') - before):.1f}"),
    ]
    start_response(status, [*headers, *meter], *more)
    return [body]

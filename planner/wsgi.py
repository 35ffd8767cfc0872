"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from planner.allocator import map_large_blocks

map_large_blocks()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
_site = get_wsgi_application()

from django.conf import settings  # noqa: E402 - needs the apps, as all below

from planner.services.housekeeping import retention as schedule  # noqa: E402
from planner.services.jobs import price_refreshes as price_schedule  # noqa: E402
from planner.services.observability.logs import start_reports  # noqa: E402
from planner.unread_bodies import read_to_end  # noqa: E402

application = read_to_end(_site, settings.API_MAX_UPLOAD_BYTES)

price_schedule.start_timer()
schedule.start_timer()
start_reports()

"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from planner.allocator import map_large_blocks

map_large_blocks()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
application = get_wsgi_application()

from planner.services.housekeeping import schedule  # noqa: E402 - needs the apps
from planner.services.jobs import price_schedule  # noqa: E402
from planner.services.observability.reports import start_reports  # noqa: E402

price_schedule.start_timer()
schedule.start_timer()
start_reports()

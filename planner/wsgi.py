"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from planner.allocator import map_large_blocks

map_large_blocks()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
application = get_wsgi_application()

from planner.services.jobs.price_schedule import start_timer  # noqa: E402 - needs the apps
from planner.services.observability.reports import start_reports  # noqa: E402

start_timer()
start_reports()

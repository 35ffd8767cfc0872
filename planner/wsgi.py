"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
application = get_wsgi_application()

# What needs the apps.
from planner.services.housekeeping import retention  # noqa: E402
from planner.services.jobs import price_refreshes  # noqa: E402
from planner.services.observability.logs import start_reports  # noqa: E402

price_refreshes.start_timer()
retention.start_timer()
start_reports()

"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
application = get_wsgi_application()

# What needs the apps.
from planner.services.jobs.background import start_schedule  # noqa: E402

start_schedule()

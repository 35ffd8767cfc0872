"""The planner's settings for servers that tests start: plain http, and no limits by caller."""

import os

from planner.settings import *  # noqa: F403

SECURE_SSL_REDIRECT = False
API_REQUESTS_PER_MINUTE = API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
JOBS_PER_PERSON = JOBS_PER_TEAM = JOBS_PER_SERVER = 0
WORK_ANONYMOUS = int(os.environ.get("TEST_WORK_ANONYMOUS", WORK_ANONYMOUS))  # noqa: F405

"""`manage.py jobfile FILE`: what a job file says of accelerators and hours, as a request."""

from planner.commands.job_file import JOB_FILE
from planner.management.shared_command import SharedCommand


class Command(SharedCommand):
    shared, help = JOB_FILE, JOB_FILE.help

"""`manage.py estimate FILE|-`: accelerator-hours of a workload, as tables or JSON."""

from planner.commands.ask import ESTIMATE
from planner.management.shared_command import SharedCommand


class Command(SharedCommand):
    shared, help = ESTIMATE, ESTIMATE.help

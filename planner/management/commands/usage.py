"""`manage.py usage FILE…`: what bills and cluster logs say, and the demand that follows."""

from planner.commands.usage import USAGE
from planner.management.shared_command import SharedCommand


class Command(SharedCommand):
    shared, help = USAGE, USAGE.help

"""`manage.py compare FILE|-`: the comparison at the prices in the database."""

from planner.commands.ask import COMPARE
from planner.management.shared_command import SharedCommand
from pricing.management.database_command import DatabaseCommand


class Command(SharedCommand, DatabaseCommand):
    shared, help = COMPARE, COMPARE.help

"""`manage.py portfolio FILE|-`: one plan for all projects at the prices in the database."""

from planner.commands.ask import PORTFOLIO
from planner.management.shared_command import SharedCommand
from pricing.management.database_command import DatabaseCommand


class Command(SharedCommand, DatabaseCommand):
    shared, help = PORTFOLIO, PORTFOLIO.help

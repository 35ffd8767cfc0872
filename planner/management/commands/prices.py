"""`manage.py prices`: the prices in the database, their age, and the cheapest offers."""

from planner.commands.prices import PRICES
from planner.management.shared_command import SharedCommand
from pricing.management.database_command import DatabaseCommand


class Command(SharedCommand, DatabaseCommand):
    shared, help = PRICES, PRICES.help

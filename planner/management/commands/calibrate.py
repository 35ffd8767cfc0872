"""`manage.py calibrate LOG.csv`: what a log of nvidia-smi or DCGM says about the plan."""

from planner.commands.ask import CALIBRATE
from planner.management.shared_command import SharedCommand


class Command(SharedCommand):
    shared, help = CALIBRATE, CALIBRATE.help

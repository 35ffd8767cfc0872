"""`gpu-cost-planner`: the planner on the command line, without Django and database.

Prices are those that come with the program, or with `--server` those of a running planner.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gpu_cost_planner.server import add_server, load_catalog
from gpu_cost_planner.version import read_version
from planner.commands.ask import CALIBRATE, COMPARE, ESTIMATE, JOB_FILE, LADDER, PORTFOLIO
from planner.commands.command import Command
from planner.commands.usage import USAGE
from pricing.common.invalid_input import InvalidInput

COMMANDS: Mapping[str, Command] = {
    "compare": COMPARE,
    "estimate": ESTIMATE,
    "calibrate": CALIBRATE,
    "portfolio": PORTFOLIO,
    "usage": USAGE,
    "jobfile": JOB_FILE,
    "ladder": LADDER,
}
PRICED = {"compare", "portfolio", "usage"}
"""Those of them that need prices."""
REFUSED = 2
"""Exit status of a request that cannot be used; each refusal is a line, `field: message`."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells give it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status: 0 done, 2 refused, 130 interrupted."""
    options = build_parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except InvalidInput as refusal:
        for one in refusal.all():
            print(one, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def build_parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="gpu-cost-planner",
        description="What deep-learning accelerators should cost: rented, owned or mixed.",
    )
    parser.add_argument("--version", action="version", version=read_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        own = _add(commands, name, command.help, partial(_run_shared, command))
        command.add_arguments(own)
        if name in PRICED:
            add_server(own)
    from gpu_cost_planner import serve, sweep_command
    from gpu_cost_planner.assistants import command as mcp_command

    def run_sweep(options: Namespace) -> int:
        return sweep_command.run(options, load_catalog(options), print_text)

    for name, module, run in (
        ("sweep", sweep_command, run_sweep),
        ("mcp", mcp_command, mcp_command.run),
        ("serve", serve, serve.run),
    ):
        module.add_arguments(_add(commands, name, module.HELP, run))
    return parser


def print_text(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def read_parsers(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    groups = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    return {name: command for group in groups for name, command in group.choices.items()}


Run = Callable[[Namespace], int]


def _add(commands: Any, name: str, help_text: str, run: Run) -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    parser.set_defaults(run=run)
    return parser


def _run_shared(command: Command, options: Namespace) -> int:
    print_text(command.answer(vars(options), lambda: load_catalog(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command reference: every command with its own arguments and help."""

from __future__ import annotations

from argparse import SUPPRESS, Action
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from docs_build.markdown_table import format_table
from gpu_cost_planner.command_line import build_parser, read_parsers

APPS = ("planner", "pricing")


def read_commands() -> dict[str, BaseCommand]:
    """name → command, of our own apps, in order of name."""
    apps = get_commands().items()
    ours = {name: app for name, app in apps if isinstance(app, str) and app in APPS}
    return {name: load_command_class(ours[name], name) for name in sorted(ours)}


def read_arguments(name: str, command: BaseCommand) -> list[Action]:
    """The arguments of a command that not every Django command has."""
    shared = {action.dest for action in BaseCommand().create_parser("manage.py", name)._actions}
    actions = command.create_parser("manage.py", name)._actions
    return [action for action in actions if action.dest not in shared]


def render_commands() -> str:
    """A section for each command."""
    sections = [
        _format(f"manage.py {name}", name, command.help, read_arguments(name, command))
        for name, command in read_commands().items()
    ]
    for name, parser in read_parsers(build_parser()).items():
        program = f"gpu-cost-planner {name}"
        arguments = [action for action in parser._actions if action.dest != "help"]
        sections.append(_format(program, program, parser.description or "", arguments))
    return "\n\n".join(sections)


def _format(program: str, title: str, help_text: str, arguments: list[Action]) -> str:
    usage = " ".join([program, *(_usage(action) for action in arguments)])
    parts = [f"## {title}", help_text.replace(" …", "…"), f"```\n{usage}\n```"]
    if arguments:
        parts.append(format_table(("argument", "meaning"), _rows(arguments)))
    return "\n\n".join(parts)


def _rows(arguments: list[Action]) -> Iterator[tuple[str, str]]:
    for action in arguments:
        default = action.default
        text = (action.help or "") % {"default": default, "prog": "manage.py"}
        yield f"`{_name(action)}`", "" if text == SUPPRESS else text


def _name(action: Action) -> str:
    if not action.option_strings:
        return action.dest
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return action.option_strings[-1] + value


def _usage(action: Action) -> str:
    if action.option_strings:
        return f"[{_name(action)}]"
    return f"[{action.dest}…]" if action.nargs == "*" else action.dest.upper()

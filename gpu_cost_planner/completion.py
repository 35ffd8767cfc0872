"""Completion for bash and zsh, written from the parser: commands, options, choices, files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable

HELP = "Print the script that completes commands and options in a shell."
SHELLS = ("bash", "zsh")
_SCRIPT = """\
_gpu_cost_planner() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  case "${{COMP_WORDS[1]}} $before" in
{values}
  esac
  if [ -z "$words" ]; then
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _gpu_cost_planner gpu-cost-planner
"""
"""What nothing here completes, the shell completes as a file."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def run(options: Namespace, parser: ArgumentParser, write: Callable[[str], object]) -> int:
    """Print the script: `source <(gpu-cost-planner completion bash)`."""
    prefix = "autoload -U +X bashcompinit && bashcompinit\n" if options.shell == "zsh" else ""
    write(prefix + build_script(parser))
    return 0


def build_script(parser: ArgumentParser) -> str:
    """The script for a parser with one level of commands."""
    commands = read_parsers(parser)
    values, options = [], []
    for name, command in commands.items():
        flags = [flag for action in command._actions for flag in action.option_strings]
        options.append(f'      {name}) words="{" ".join(flags)}" ;;')
        for action in command._actions:
            for flag in action.option_strings if action.choices else ():
                choices = " ".join(map(str, action.choices or ()))
                values.append(f'    "{name} {flag}") words="{choices}" ;;')
    return _SCRIPT.format(
        values="\n".join(values), options="\n".join(options), commands=" ".join(commands)
    )


def read_parsers(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """name → parser of each command."""
    groups = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    return {name: command for group in groups for name, command in group.choices.items()}

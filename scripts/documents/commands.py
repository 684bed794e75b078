"""The command line's reference and the exit codes, from the program itself."""

from importlib import import_module
from typing import Final

import click

from vramledger.cli.main import cli
from vramledger.cli.verbs import VERBS
from vramledger.errors import ExitCode

_WIDTH: Final = 96
_EXIT_MEANING: Final = {
    ExitCode.HOLDS: "holds: it fits, some candidate fits, the file is sound",
    ExitCode.DOES_NOT_HOLD: "does not hold: it does not fit, a gate failed",
    ExitCode.BAD_INPUT: "bad input: a file, argument or name that cannot be used",
    ExitCode.CANNOT_KNOW: "cannot know: the question is sound, the answer is not to be had from this",
    ExitCode.INTERRUPTED: "interrupted",
}


def cli_reference() -> str:
    """Every verb with its help, as the command line prints it."""
    parts = ["# Command line reference", "", "Generated from the program.", ""]
    context = click.Context(cli, info_name="vram", terminal_width=_WIDTH, max_content_width=_WIDTH)
    parts += ["## vram", "", "```", cli.get_help(context), "```", ""]
    for verb in VERBS:
        parts += _help(import_module(verb.module).command, context, verb.name)
    return "\n".join(parts)


def _help(command: click.Command, parent: click.Context, name: str) -> list[str]:
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    parts = [f"## {context.command_path}", "", "```", command.get_help(context), "```", ""]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                parts += _help(found, context, child)
    return parts


def exit_codes() -> str:
    """The exit codes, the same for every verb."""
    rows = [f"| {int(code)} | {_EXIT_MEANING[code]} |" for code in ExitCode]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


def verb_groups() -> str:
    """The verbs by the group that the help shows them in."""
    rows = [f"| {verb.group.lower()} | `vram {verb.name}` | {verb.help} |" for verb in VERBS]
    return "\n".join(["| group | verb | answers |", "|---|---|---|", *rows])

"""``vram trial``: a group of verbs, one file each, imported only when called."""

from importlib import import_module
from typing import Final

import click

from vramledger.errors import UnknownName

VERBS: Final = {  # name -> (module here, the line of the help)
    "run": ("run", "A workload against a live server, recorded as it goes."),
    "resume": ("resume", "Go on with a run that was cut off, or close it."),
    "list": ("list_", "The runs in a folder."),
    "show": ("show", "The summary of a run."),
    "export": ("export", "A run as CSV or JSON, or as other tools write it."),
    "warm": ("warm", "Wait until a server is ready and warm: a gate for roll-outs."),
}


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            raise UnknownName(
                "trial verb", cmd_name, VERBS, hint="Run vram trial --help for the list."
            )
        command = import_module(f"{__name__}.{VERBS[cmd_name][0]}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} has no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said) for name, (_, said) in VERBS.items()])


@click.group("trial", cls=_Group)
def command() -> None:
    """Replay your real load on a real server, with requests, server and GPUs on one clock.

    run sends a workload and records it; show, list and export read what was recorded; resume goes on after a crash; warm
    waits for a server.
    """

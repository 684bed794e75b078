"""``vram workload``: a group of verbs, one file each, imported only when called."""

from importlib import import_module
from typing import Final

import click

from vramledger.errors import UnknownName

VERBS: Final = {  # name -> (module here, the line of the help)
    "import": ("import_", "Read logs of any kind into a de-identified workload."),
    "profile": ("profile", "Lengths, arrivals, sharing and scenarios, as text or JSON."),
    "show": ("show", "Histograms in the terminal, or a one-page HTML report."),
    "slice": ("slice_", "A scenario or a stretch of time."),
    "scale": ("scale", "More or fewer arrivals, longer or shorter requests."),
    "mix": ("mix", "Two workloads at stated shares."),
    "merge": ("merge", "Workloads side by side in time."),
    "head": ("head", "The first requests."),
    "synth": ("synth", "A synthetic workload like a profile, and how close it is."),
}


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            raise UnknownName(
                "workload verb", cmd_name, VERBS, hint="Run vram workload --help for the list."
            )
        command = import_module(f"{__name__}.{VERBS[cmd_name][0]}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} has no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said) for name, (_, said) in VERBS.items()])


@click.group("workload", cls=_Group)
def command() -> None:
    """What your requests really look like, taken from logs without a word of their content.

    import reads logs; profile and show describe what was stored; slice, scale, mix, merge and head
    make other workloads of it; synth makes one like a profile.
    """

"""A group of verbs below a verb, one file each, imported only when called."""

from collections.abc import Mapping
from importlib import import_module

import click

from vramledger.errors import UnknownName


class VerbGroup(click.Group):
    """Its verbs are modules of one package, by name with the line of the help for each."""

    def __init__(
        self, name: str, package: str, verbs: Mapping[str, tuple[str, str]], text: str
    ) -> None:
        super().__init__(name, help=text)
        self._package, self._verbs = package, verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in self._verbs:
            raise UnknownName(
                f"{self.name} verb",
                cmd_name,
                self._verbs,
                hint=f"Run vram {self.name} --help for the list.",
            )
        command = import_module(f"{self._package}.{self._verbs[cmd_name][0]}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} has no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said) for name, (_, said) in self._verbs.items()])

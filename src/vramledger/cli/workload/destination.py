"""Where a verb writes, with ``--force``: a file that exists is replaced only where that is asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vramledger.errors import BadInput

OUT: Final = ("-o", "--out")
_FORCE: Final = "vramledger.force"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def destination(
    help_text: str, names: tuple[str, ...] = OUT, **settings: Any
) -> Callable[[_Command], _Command]:
    """The option and --force; the command gets the path alone, and only where it may be written.

    `settings` are those of `click.option`: `required`, or `default` and `show_default`.
    """

    def decorated(command: _Command) -> _Command:
        force = click.option(
            "--force", is_flag=True, is_eager=True, expose_value=False, callback=_remember,
            help="Replace the output where it exists.",
        )  # fmt: skip
        out = click.option(
            *names, type=click.Path(path_type=Path), callback=_free, help=help_text, **settings
        )  # fmt: skip
        return out(force(command))

    return decorated


def _remember(ctx: click.Context, _parameter: click.Parameter, given: bool) -> None:  # noqa: FBT001
    ctx.meta[_FORCE] = given


def _free(ctx: click.Context, parameter: click.Parameter, out: Path | None) -> Path | None:
    if out is not None and out.exists() and not ctx.meta[_FORCE]:
        option = parameter.opts[0]
        raise BadInput(f"{out} exists; name another with {option}, or replace it with --force.")
    return out

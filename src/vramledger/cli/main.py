"""Entry point of ``vram``: a lazy group of verbs, and errors as one sentence with an exit code."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import groupby
from typing import Any, Final

import click

from vramledger import __version__
from vramledger.cli.output import show, to_nobody
from vramledger.cli.verbs import BY_NAME, VERBS
from vramledger.errors import BadInput, ExitCode, UnknownName, VramError
from vramledger.printable import one_line

GREETING = """\
vram keeps the account of GPU memory for LLM serving. Three commands to start with:

  vram size Qwen/Qwen3-32B --users 60 --profile chat-with-documents
      which cards and layouts hold 60 people, and the launch command
  vram ledger "vllm serve Qwen/Qwen3-32B -tp 2 --max-model-len 32768" --gpu H100-80GB-SXM
      where every GiB of that launch goes, and what still fits
  vram inspect Qwen/Qwen3-32B
      what the model weighs and what a token costs

vram --help lists every verb."""

_OBJECTS_BEFORE_COLLECTION: Final = 100_000  # Python's own 700 is for processes that live


class LazyGroup(click.Group):
    """A group that imports a verb only when it is called; help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        verb = BY_NAME.get(cmd_name)
        if verb is None:
            raise UnknownName("verb", cmd_name, BY_NAME, hint="Run vram --help for the list.")
        command = import_module(verb.module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{verb.module} has no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for group, verbs in groupby(VERBS, key=lambda verb: verb.group):
            with formatter.section(group):
                formatter.write_dl([(verb.name, verb.help) for verb in verbs])


@click.group(cls=LazyGroup, invoke_without_command=True)
@click.version_option(__version__, prog_name="vram")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def cli(ctx: click.Context, *, debug: bool) -> None:
    """GPU memory for LLM serving, kept like an account book.

    Exit codes: 0 holds, 1 does not hold, 2 bad input, 3 cannot know, 130 interrupted.
    """
    ctx.obj = {"debug": debug}
    if ctx.invoked_subcommand is None:
        click.echo(GREETING)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but `--debug` shows a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        result: Any = cli.main(given, prog_name="vram", standalone_mode=False)
    except VramError as error:
        return _fail(str(error), error.exit_code)
    except click.ClickException as error:
        return _fail(_sentence(error), ExitCode.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted.", ExitCode.INTERRUPTED)
    except (
        SystemExit
    ):  # click's, with 1, where the reader of a help has gone; verbs print by `show`
        return ExitCode.HOLDS
    except Exception as error:
        if "--debug" in given:
            raise
        return _defect(error, given)
    return int(result) if isinstance(result, int) else ExitCode.HOLDS


def main() -> None:
    """The console script: one answer, then the process ends.

    Almost nothing it makes is garbage, so cycles are looked for rarely, and not at all on the way
    out: that is a tenth of the time of a short command.
    """
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    _open_standard_streams()
    code = run()
    gc.freeze()
    try:
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
    except BrokenPipeError:
        to_nobody(sys.stdout)
    sys.exit(code)


def _open_standard_streams() -> None:
    """Put /dev/null where a caller closed stdin, stdout or stderr: the next file opened would take its number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process


def _fail(message: str, code: ExitCode) -> int:
    with suppress(BadInput):  # nowhere is left to say that nothing can be said
        show(f"vram: {one_line(message)}", err=True)
    return code


def _defect(error: Exception, given: Sequence[str]) -> int:
    """What nobody foresaw; of a name that is no text, libraries complain in many places."""
    odd = next((word for word in given if not _is_utf8(word)), None)
    if odd is not None and isinstance(error, UnicodeEncodeError):
        return _fail(f"The name {odd} is not UTF-8; rename it.", ExitCode.BAD_INPUT)
    return _fail(
        f"vram failed on a defect of its own ({type(error).__name__}: {error}); nothing was "
        "decided. Run it again with --debug and report what it shows.",
        ExitCode.CANNOT_KNOW,
    )


def _is_utf8(word: str) -> bool:
    """Whether the word can be passed on as text; bytes of a file's name need not be."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _message(error: click.ClickException) -> str:
    """Click's message; an unknown option with those that come near it."""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        near = ", ".join(sorted(error.possibilities))
        return f"No such option '{error.option_name}'; near it: {near}"
    return error.format_message()


def _sentence(error: click.ClickException) -> str:
    """Click's message as one finished sentence, with the help to turn to."""
    text = " ".join(_message(error).split())
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "vram"
    return f"{text.rstrip('.')}. See {path} --help."

"""What the verbs print: text without control characters, or one JSON object."""

import os
import sys
from contextlib import suppress
from typing import Any, TextIO

import click

from vramledger.errors import BadInput
from vramledger.printable import lines


def show(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text; names out of files stand in it, so control characters are escaped.

    A reader that has gone is told nothing more, and changes nothing else: the exit code stays that of the answer.

    Raises:
        BadInput: the output cannot be written.
    """
    try:
        click.echo(lines(text), err=err, nl=nl)
    except BrokenPipeError:
        to_nobody(sys.stderr if err else sys.stdout)
    except OSError as error:
        raise BadInput(
            f"The output cannot be written: {error.strerror or error}; send it elsewhere."
        ) from None
    except UnicodeEncodeError as error:
        raise BadInput(
            f"The output cannot be written as {error.encoding}; set PYTHONIOENCODING=utf-8."
        ) from None


def to_nobody(stream: TextIO) -> None:
    """Have what is still written to a stream whose reader has gone, and what it holds, go nowhere."""
    with suppress(OSError, ValueError):  # a stream without a descriptor has no reader to lose
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def show_json(content: Any) -> None:
    """Print one JSON object.

    Raises:
        BadInput: as `show`.
    """
    import json

    show(json.dumps(content, indent=2))

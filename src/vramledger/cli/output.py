"""What the verbs print: text without control characters, or one JSON object."""

from typing import Any

import click

from vramledger.errors import BadInput
from vramledger.printable import lines


def show(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text; names out of files stand in it, so control characters are escaped.

    Raises:
        BadInput: the output cannot be written; a reader that has gone is `main`'s to handle.
    """
    try:
        click.echo(lines(text), err=err, nl=nl)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(
            f"The output cannot be written: {error.strerror or error}; send it elsewhere."
        ) from None
    except UnicodeEncodeError as error:
        raise BadInput(
            f"The output cannot be written as {error.encoding}; set PYTHONIOENCODING=utf-8."
        ) from None


def show_json(content: Any) -> None:
    """Print one JSON object.

    Raises:
        BadInput: as `show`.
    """
    import json

    show(json.dumps(content, indent=2))

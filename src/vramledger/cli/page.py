"""A page that a verb writes: one file that loads nothing."""

from collections.abc import Iterable
from pathlib import Path

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.errors import BadInput
from vramledger.written_file import refuse_place


def refuse_page(path: Path, verb: str, sources: Iterable[Path] = ()) -> None:
    """Refuse before any work is done what would end in no page.

    Raises:
        BadInput: libraries are absent, or the place cannot take a file or is one of `sources`.
    """
    need_full(f"{verb} --html", ("jinja2", "plotly"))
    refuse_place(path, sources, "--html")
    if not path.parent.is_dir():
        raise BadInput(f"{path} cannot be written: {path.parent} is no folder; make it first.")


def write_page(path: Path, text: str, option: str = "--html") -> None:
    """The file appears whole or not at all; says so beside the output. `option` names the place in messages.

    Raises:
        BadInput: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}; choose another {option}."
        ) from None
    finally:
        part.unlink(missing_ok=True)
    show(f"Wrote {path}; it loads nothing from anywhere.", err=True)

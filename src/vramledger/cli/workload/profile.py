"""``vram workload profile W``: lengths, arrivals, sharing and scenarios, as text or JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput, ExitCode

if TYPE_CHECKING:
    from vramledger.workload.profile.profile import Profile

_PATH = click.Path(path_type=Path)


@click.command("profile")
@click.argument("workload", type=_PATH, required=False)
@click.option(
    "--table",
    metavar="URL",
    help="A table where it lies: postgres://USER@HOST/DB?table=NAME, or any database of Ibis.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN,...",
    help="The columns of that table: arrival=ts,input=prompt_tokens,output=completion_tokens.",
)
@click.option(
    "--block-tokens", type=click.IntRange(min=1), help="Tokens of a prefix block of that table."
)
@click.option(
    "--keep",
    type=click.Choice(["model"]),
    help="Show that table's names of models, which are model-0, model-1, ... otherwise.",
)
@click.option(
    "--engine",
    default="duckdb",
    show_default=True,
    help="duckdb, or spark for a workload that takes a cluster.",
)
@destination("Write the profile there, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    workload: Path | None,
    *,
    table: str | None,
    mapping: tuple[str, ...],
    block_tokens: int | None,
    keep: str | None,
    engine: str,
    out: Path | None,
    as_json: bool,
) -> int:
    """Lengths, arrivals, sharing, limits and scenarios of a stored workload, a profile or a table.

    WORKLOAD is a Parquet file of `vram workload import` or a profile that was written with -o.

    The password of a database comes from the environment (PGPASSWORD) or ~/.pgpass.
    """
    from vramledger.report.workload_profile import to_text
    from vramledger.workload.profile.json_form import text, write
    from vramledger.written_file import refuse_place

    if (workload is None) == (table is None):
        raise BadInput("Name one workload: a file, or --table URL.")
    if out is not None:
        refuse_place(out, () if workload is None else (workload,))
    if workload is not None:
        if mapping or block_tokens or keep:
            raise BadInput("--map, --block-tokens and --keep describe a --table; leave them out.")
        profile = _of_file(workload, engine)
    else:
        profile = _of_table(str(table), mapping, block_tokens, keep=keep == "model")
    if out is not None:
        write(profile, out)
        show(f"Wrote {out}.", err=True)
    if as_json:
        show(text(profile))
    elif out is None:
        show(to_text(profile))
    return ExitCode.HOLDS


def _of_file(path: Path, engine: str) -> "Profile":
    from vramledger.workload.profile.load import is_stored, load_profile

    if not is_stored(path):
        return load_profile(path)
    need_full("vram workload profile")
    from vramledger.workload.profile.compute import profile_workload

    with progress_bar("Counting", "questions") as progress:
        return profile_workload(path, engine=engine, progress=progress)


def _of_table(
    url: str, mapping: tuple[str, ...], block_tokens: int | None, *, keep: bool
) -> "Profile":
    need_full("vram workload profile")
    from vramledger.workload.foreign import opened_url
    from vramledger.workload.formats.mapped import read_mapping
    from vramledger.workload.profile.compute import profile_table

    with (
        opened_url(url, read_mapping(mapping), block_tokens, keep_models=keep) as requests,
        progress_bar("Counting", "questions") as progress,
    ):
        return profile_table(requests, progress=progress)

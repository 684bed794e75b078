"""``vram workload import FILE...``: read logs of any kind into a de-identified workload."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vramledger.cli.output import show, show_json
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.import_options import reading_options
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import ExitCode

if TYPE_CHECKING:
    from vramledger.workload.importer import Options


class _Command(click.Command):
    """The command, with the fields of --map and the formats at the end of its help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        from vramledger.workload.formats.mapped import MAPPED
        from vramledger.workload.formats.registry import formats

        with formatter.section("Fields of --map, times with a unit as in arrival_ms"):
            formatter.write_text(", ".join(MAPPED))
        with formatter.section("Formats"):
            formatter.write_dl([(each.name, each.title) for each in formats()])


@click.command("import", cls=_Command)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--format", "name", default="auto", show_default=True, help="Read the files as this format."
)
@destination("Where the workload goes.", default="workload.parquet", show_default=True)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(files: tuple[str, ...], out: Path, options: "Options", *, as_json: bool) -> int:
    """Read logs into a workload without a word, a name or a date of theirs.

    FILES are logs or patterns of them, packed by gzip, zstd, bzip2 or xz or not. Their formats are
    recognised. What was lost, inferred and assumed is always reported.
    """
    from vramledger.report import workload_import as report
    from vramledger.workload.importer import import_logs

    with progress_bar("Reading") as progress:
        found = import_logs(files, out, options, progress=progress)
    for sentence in (*found.problems, *found.warnings):
        show(f"vram: {sentence}", err=True)
    if as_json:
        show_json(report.to_json(found))
    else:
        show(report.to_text(found, out))
    if found.stored is None:
        show("vram: No request could be read; nothing was written.", err=True)
        return ExitCode.BAD_INPUT
    return ExitCode.HOLDS

"""``vram workload import FILE...``: read logs of any kind into a de-identified workload."""

from datetime import timezone
from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.reading_bar import reading_bar
from vramledger.errors import BadInput, ExitCode


def _zone(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> timezone | None:
    if given is None:
        return None
    from vramledger.workload.timestamps import zone_of

    try:
        return zone_of(given)
    except ValueError:
        raise BadInput(
            f"--time-zone is {given!r}; write it as an offset from UTC, such as +02:00, or UTC."
        ) from None


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
@click.option("--map", "mapping", multiple=True, metavar="FIELD=COLUMN,...",
              help="Read any CSV, JSON or Parquet by the meaning of its columns.")  # fmt: skip
@click.option("--tokenizer", type=click.Path(path_type=Path),
              help="A tokenizer.json that counts texts whose tokens the log does not say.")  # fmt: skip
@click.option("--characters-per-token", type=float, help="Estimate such texts at this ratio.")
@click.option("--block-tokens", type=click.IntRange(1, 1 << 20), default=16, show_default=True,
              help="Tokens of a prefix block where the log does not say.")  # fmt: skip
@click.option(
    "--time-zone", callback=_zone, metavar="+HH:MM", help="Of times without one; by default UTC."
)
@click.option("--keep", multiple=True, metavar="model|session|tenant|dates",
              help="Keep identities that are otherwise removed.")  # fmt: skip
@click.option(
    "--model-map", multiple=True, metavar="NAME=LABEL", help="Store this label for a model."
)
@click.option(
    "--coarsen", is_flag=True, help="Round lengths to 2 figures and move arrivals by up to 1 s."
)
@click.option(
    "--spread", is_flag=True, help="Spread the requests of one instant where times are quantised."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of --coarsen and --spread.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    files: tuple[str, ...], *, name: str, out: Path, mapping: tuple[str, ...],
    tokenizer: Path | None, characters_per_token: float | None, block_tokens: int,
    time_zone: timezone | None, keep: tuple[str, ...], model_map: tuple[str, ...], coarsen: bool,
    spread: bool, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Read logs into a workload without a word, a name or a date of theirs.

    FILES are logs or patterns of them, packed by gzip, zstd, bzip2 or xz or not. Their formats are
    recognised. What was lost, inferred and assumed is always reported.
    """
    need_full("vram workload import")
    from vramledger.report import workload_import as report
    from vramledger.workload.counting import counter_for
    from vramledger.workload.deidentify import checked_keeps
    from vramledger.workload.deidentify import model_map as read_models
    from vramledger.workload.formats.mapped import read_mapping
    from vramledger.workload.importer import Options, import_logs

    options = Options(
        format=name, mapping=read_mapping(mapping), block_tokens=block_tokens,
        counter=counter_for(tokenizer, characters_per_token), time_zone=time_zone,
        keep=checked_keeps(keep), models=read_models(model_map), coarsen=coarsen, spread=spread,
        seed=seed,
    )  # fmt: skip
    with reading_bar() as progress:
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

"""``vram trial import FILE... -o DIR``: results of other load generators as runs."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import READING


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")  # fmt: skip
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    required=True,
    help="The run's folder, not there yet; of several benchmarks in a file, one folder each in it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(files: tuple[Path, ...], out: Path, *, as_json: bool) -> int:
    """Make runs of results of vllm bench serve, GuideLLM, AIPerf, inference-perf or an llm-d report.

    The tool's own headline figures are worked out anew from its records, by its own definitions, and held against what the file says: exit code 3 where they differ.
    Name the files of one run (or their folder), also packed with gzip.
    """
    need_full("vram trial import", (*READING, "orjson"))
    from vramledger.report.trial_imported import exit_code_of, imported_json, imported_text
    from vramledger.trial.imported.importing import import_results

    found = import_results(files, out)
    if as_json:
        show_json(imported_json(found))
    else:
        show(imported_text(found))
    return exit_code_of(found)

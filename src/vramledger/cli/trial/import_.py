"""``vram trial import FILE... -o DIR``: results of other load generators as runs."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import READING
from vramledger.errors import BadInput


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")  # fmt: skip
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    required=True,
    help="The run's folder, not there yet; of several benchmarks in a file, one folder each in it.",
)
@click.option(
    "--plan",
    metavar="PLAN",
    help="Hold the run against the contract of this plan (vram trial show says how it stands).",
)
@click.option("--scenario", help="One of the plan, where it has several.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    files: tuple[Path, ...], out: Path, plan: str | None, scenario: str | None, *, as_json: bool
) -> int:
    """Make runs of results of vllm bench serve, GuideLLM, AIPerf, inference-perf or an llm-d report.

    The tool's own headline figures are worked out anew from its records, by its own definitions, and held against what the file says: exit code 3 where they differ.
    Name the files of one run (or their folder), also packed with gzip or zstd. A file of several benchmarks becomes all of its runs, or none.
    """
    need_full("vram trial import", (*READING, "ijson", "orjson"))
    from vramledger.cli.trial.asked import held_against
    from vramledger.report.trial_imported import exit_code_of, imported_json, imported_text
    from vramledger.trial.imported.importing import import_results

    if scenario is not None and plan is None:
        raise BadInput("--scenario names one of a plan; give the plan with --plan.")
    held = None if plan is None else held_against(plan, scenario)
    found = import_results(files, out, held)
    if as_json:
        show_json(imported_json(found))
    else:
        show(imported_text(found))
    return exit_code_of(found)

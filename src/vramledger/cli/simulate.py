"""``vram simulate LAUNCH --gpu NAME --workload W``: a workload on a deployment, step for step."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.calibration_option import calibration_option
from vramledger.cli.limit_option import limit_option
from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.page import refuse_page, write_page
from vramledger.cli.routing_options import routing_options
from vramledger.cli.serving_options import serving_options
from vramledger.errors import BadInput, ExitCode


@click.command("simulate")
@click.argument("launch", metavar="LAUNCH|PLAN")
@click.option("--gpu", help="The accelerator: a name of vram gpus, or auto.")
@click.option("--workload", type=click.Path(path_type=Path), help="A stored workload (.parquet).")
@click.option("--scenario", help="daily, peak, long-burst, tail, day or night; or one of the plan.")
@click.option("--rate-scale", type=float, help="Factor on the rate of arrivals; 1 by default.")
@limit_option
@click.option(
    "--headroom", type=float, help="Share of the KV pool the safe load keeps free (0..1)."
)
@click.option(
    "--replicas", type=int, default=1, help="Equal servers behind a router; 1 by default."
)
@click.option(
    "--client-timeout",
    type=float,
    metavar="SECONDS",
    help="Clients leave after so long, and their requests count as failed (timed_out).",
)
@routing_options
@click.option("--no-prefix", is_flag=True, help="Leave out the workload's own prefix hits.")
@click.option(
    "--end",
    type=click.Choice(["low", "expected"]),
    default="low",
    help="End of the ledger's band that gives the KV pool; low by default, as decisions use it.",
)
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--model", help="The model, when the launch names a path that is not here.")
@click.option("--coefficients", help="A file with your own step-time coefficients.")
@calibration_option
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default.")
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    help="The run's folder; new. Not with --knee, which keeps none of its runs.",
)
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write one self-contained page there."
)
@click.option("--knee", is_flag=True, help="Search the highest rate that keeps the contract.")
@click.option("--tolerance", type=float, help="Of the search, relative; 0.02 by default.")
@serving_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, html: Path | None, as_json: bool, **asked: Any) -> int:
    """Latency, queue, preemption and KV use of a workload on a deployment, simulated.

    LAUNCH is the command as you would type it, or a file that holds one; a PLAN brings the model, the
    arguments, the workload and the contract of a scenario. The run is written to a folder, runs/... by
    default.
    """
    need_full("vram simulate", ("duckdb", "pyarrow", "numpy", "numba", "scipy"))
    from vramledger.cli.knee_asked import answer_knee, refuse_knee_options
    from vramledger.cli.progress_lines import progress_shown
    from vramledger.cli.simulate_asked import exit_code_of, question_of, written
    from vramledger.report.simulation import to_text
    from vramledger.report.simulation_json import not_served_json, to_json
    from vramledger.simulate.ends import with_ends
    from vramledger.simulate.run import NotServed, simulate_case

    if html is not None:
        refuse_page(html, "vram simulate", (asked["workload"],) if asked["workload"] else ())
    refuse_knee_options(asked)
    question = question_of(asked)
    if asked["knee"]:
        return answer_knee(question, asked["tolerance"], html, as_json=as_json)
    with progress_shown("simulate", "requests") as bar:
        found = simulate_case(question, bar, announce=lambda said: show(said, err=True))
        if not isinstance(found, NotServed):
            found = with_ends(found, bar, without_hits=True)
    if isinstance(found, NotServed):
        if as_json:
            show_json(not_served_json(found))
        else:
            show(f"DOES NOT START, so nothing was simulated: {found.reason}")
        return ExitCode.DOES_NOT_HOLD
    folder = written(found, asked)
    if html is not None:
        from vramledger.report.simulation_html.page import to_html

        try:
            write_page(html, to_html(found, folder))
        except BadInput as error:
            raise BadInput(f"{error} The run itself is complete, in {folder}.") from None
    if as_json:
        show_json(to_json(found, folder))
    else:
        show(to_text(found, folder))
    return exit_code_of(found)

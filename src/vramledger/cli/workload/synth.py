"""``vram workload synth --like PROFILE``: a synthetic workload, and how close it is."""

from pathlib import Path

import click

from vramledger.cli.needs import FULL, need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput, ExitCode

_PATH = click.Path(path_type=Path)


@click.command("synth")
@click.option(
    "--like",
    type=_PATH,
    required=True,
    help="A profile (JSON), a stored workload, or ServeGen's: a folder or a chunk's trace.",
)
@click.option(
    "--requests", type=click.IntRange(min=1), help="End after so many requests: this or --hours."
)
@click.option("--hours", type=float, help="End after so many hours of arrivals.")
@click.option(
    "--arrivals",
    default="profile",
    show_default=True,
    help="profile (its own rate curve), poisson, gamma or weibull.",
)
@click.option("--cv", type=float, help="Coefficient of variation of gamma and Weibull gaps.")
@click.option("--rate", type=float, help="Mean requests per second, instead of the profile's.")
@click.option("--no-prefix", is_flag=True, help="Leave prefix blocks out.")
@click.option("--no-compare", is_flag=True, help="Do not measure how close it came.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default.")
@destination("The workload to write.", required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    like: Path,
    requests: int | None,
    hours: float | None,
    arrivals: str,
    cv: float | None,
    rate: float | None,
    seed: int,
    out: Path,
    *,
    no_prefix: bool,
    no_compare: bool,
    as_json: bool,
) -> int:
    """Write a workload with the lengths, arrivals, sharing and sessions of another.

    Ends with 1 where a part came out beyond sampling error, unless an option asked for that.
    """
    need_full("vram workload synth", (*FULL, "scipy"))
    from vramledger.report.workload_synth import to_json, to_text
    from vramledger.workload.synth.arrivals import Arrivals, check
    from vramledger.workload.synth.make import expected_requests, make, source_at

    seconds = None if hours is None else hours * 3600
    asked = Arrivals(requests, seconds, arrivals, rate, cv)
    check(asked)
    if out.exists() and like.exists() and out.samefile(like):
        raise BadInput(f"{out} is what the workload is to be like; choose another -o.")
    source = source_at(like)
    expected = expected_requests(source.profile(), asked)
    with progress_bar("synth", "requests") as bar:
        made = make(
            source, asked, out, seed=seed, prefix=not no_prefix, compare=not no_compare,
            progress=lambda rows: bar(rows, expected),
        )  # fmt: skip
    if as_json:
        show_json(to_json(made))
    else:
        show(to_text(made))
    holds = made.closeness is None or made.closeness.holds
    return ExitCode.HOLDS if holds else ExitCode.DOES_NOT_HOLD

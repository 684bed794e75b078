"""``vram predict LAUNCH --gpu NAME``: latency and throughput of a launch under a steady load."""

import json
from pathlib import Path
from typing import Any

import click

from vramledger.cli.calibration_option import calibration_option, fit_from
from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode


@click.command("predict")
@click.argument("launch", required=False)
@click.option("--gpu", help="The accelerator: a name of vram gpus, or auto.")
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--model", help="The model, when the launch names a path that is not here.")
@click.option("--input-tokens", help="Mean length of a prompt, such as 8k.")
@click.option("--output-tokens", help="Mean length of an answer.")
@click.option("--concurrency", help="Requests in flight, per replica.")
@click.option(
    "--requests",
    help="Requests of a benchmark run that starts all of --concurrency together; without it, the "
    "steady state.",
)
@click.option(
    "--spread",
    help="How far lengths lie around their means, as a share (0..1): 0.111 by default, as benchmarks draw them; 0 "
    "has all of one length, and in step.",
)
@click.option(
    "--workload",
    type=click.Path(path_type=Path),
    help="A stored workload (.parquet): its lengths in place of means, in their order.",
)
@click.option("--coefficients", help="A file with your own coefficients in place of the shipped.")
@calibration_option
@click.option("--cases", help="A file with one JSON object a line: many questions at once.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; with --cases, one a line."
)
def command(
    *,
    as_json: bool,
    cases: str | None,
    coefficients: str | None,
    calibration: str | None,
    **asked: Any,
) -> int:
    """Mean TTFT, mean TPOT and throughput of a launch under a steady load, each with its band.

    LAUNCH is the command as you would type it, or a file that holds one. With --cases the questions
    come from a file; one that cannot be answered gets an error in its place.
    """
    from vramledger.cli.predict_asked import case_answers, single
    from vramledger.report.predict import answer_line, to_text
    from vramledger.report.predict_json import answer_json, not_started_json, to_json
    from vramledger.simulate.timing.predict import DoesNotStart

    fit = fit_from(coefficients, calibration)
    if cases is None:
        try:
            found = single(asked, fit)
        except DoesNotStart as error:
            if as_json:
                show_json(not_started_json(str(error)))
            else:
                show(f"DOES NOT START, so nothing is predicted: {error}")
            return ExitCode.DOES_NOT_HOLD
        if as_json:
            show_json(to_json(found))
        else:
            show(to_text(found))
        if not found.starts:
            return ExitCode.DOES_NOT_HOLD
        return ExitCode.HOLDS if found.evidence else ExitCode.CANNOT_KNOW
    answered = 0
    for answer in case_answers(cases, asked, fit):
        answered += answer.prediction is not None
        show(json.dumps(answer_json(answer)) if as_json else answer_line(answer))
    return ExitCode.HOLDS if answered else ExitCode.CANNOT_KNOW

"""``vram rehearse LAUNCH --gpu NAME``: the deployment as a server, before the hardware is there."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.errors import ExitCode


@click.command("rehearse")
@click.argument("launch", metavar="LAUNCH|PLAN")
@click.option("--gpu", help="The accelerator: a name of vram gpus, or auto.")
@click.option("--host", default="127.0.0.1", help="Address to serve on; 127.0.0.1 by default.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="8000 by default; 0 takes a free one.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default.")
@click.option("--speed", type=float, default=1.0, help="Simulated seconds a second; 1 by default.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="FAULT",
    help="error:SHARE, reject:SHARE, reset:SHARE, stall:SHARE:TIME, garbage:SHARE, slow-drip:SHARE, "
    "restart@TIME[:TIME], role-early, tokens-per-chunk:COUNT, no-usage or no-metrics@TIME; may be given again.",
)
@click.option(
    "--truth", type=click.Path(path_type=Path), help="Write the true times of every request there."
)
@click.option(
    "--mean-input", type=float, default=1000.0, help="Expected prompt, in tokens; 1000 by default."
)
@click.option(
    "--mean-output",
    type=float,
    default=300.0,
    help="Expected answer, and mean of those that end by themselves; 300 by default.",
)
@click.option("--scenario", help="One of the plan, where it has several.")
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--model", help="The model, when the launch names a path that is not here.")
@click.option("--coefficients", help="A file with your own step-time coefficients.")
@click.option("--acceptance", type=float, metavar="RATE", help="Share of drafts accepted (0..1).")
def command(**asked: Any) -> int:
    """Serve an OpenAI-compatible API whose engine is simulated in real time.

    The first line of output is the address. Scheduler, KV pool and step times are those of vram simulate, the metrics
    page has vLLM's names. Ctrl-C ends it with 130, SIGTERM with 0.
    """
    need_full("vram rehearse", ("httptools", "numpy", "orjson"))
    from vramledger.cli.rehearse_asked import options_of, question_of, sentence_of
    from vramledger.rehearse.serve import serve
    from vramledger.rehearse.subject import DoesNotStart, subject_of

    options = options_of(asked)
    subject = subject_of(question_of(asked))
    if isinstance(subject, DoesNotStart):
        show(f"DOES NOT START, so nothing is served: {subject.reason}", err=True)
        return ExitCode.DOES_NOT_HOLD
    say = _say
    say(sentence_of(subject))
    return serve(subject, options, ready=show, say=say)


def _say(sentence: str) -> None:
    show(sentence, err=True)

"""The options of a trial beside its server: what is sent, how it is counted, what is watched, when it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vramledger.trial.conduct.on_interrupt import OnInterrupt

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option(
        "--workload", type=click.Path(path_type=Path), help="A stored workload (.parquet)."
    ),
    click.option(
        "--scenario", help="daily, peak, long-burst, tail, day or night; or one of the plan."
    ),
    click.option("--rate-scale", type=float, help="Factor on the rate of arrivals; 1 by default."),
    click.option(
        "--closed", type=int, metavar="N", help="N clients, each of which waits for its answer."
    ),
    click.option(
        "--for",
        "duration",
        metavar="TIME",
        help="Send for so long (90s, 15m, 2h), again if need be; the whole workload by default.",
    ),
    click.option(
        "--model", help="The name to ask for; the first that the server lists by default."
    ),
    click.option(
        "--api",
        type=click.Choice(["chat", "completions"]),
        default="chat",
        help="Which endpoint; chat by default.",
    ),
    click.option("--key-env", metavar="NAME", help="Environment variable with the server's key."),
    click.option("--key-file", metavar="FILE", help="File with the server's key."),
    click.option(
        "--server-log",
        type=click.Path(path_type=Path),
        help="The server's start-up log, if at hand.",
    ),
    click.option("--metrics", metavar="URL", help="The server's metrics page, if elsewhere."),
    click.option(
        "--gpu-metrics",
        metavar="URL",
        help="DCGM exporter or Prometheus, for GPUs of other machines.",
    ),
    click.option("--gpu-selector", default="", help="Matchers for that Prometheus, as in PromQL."),
    click.option(
        "--tokenizer", type=click.Path(path_type=Path), help="tokenizer.json of the served model."
    ),
    click.option(
        "--token-ids", is_flag=True, help="Send prompts as token ids; --api completions only."
    ),
    click.option(
        "--prompts", type=click.Path(path_type=Path), help="Prompts of your own, JSON lines."
    ),
    click.option(
        "--acceptance-length",
        type=float,
        metavar="X",
        help="Tokens a step with drafts, if that was set on the server.",
    ),
    click.option(
        "--stages",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Where gateway or engine write spans or an access log; sends trace ids.",
    ),
    click.option("--trace-ids", is_flag=True, help="Send traceparent and x-request-id."),
    click.option(
        "--body", metavar="JSON", help="Fields for every request, as '{\"temperature\": 0}'."
    ),
    click.option(
        "--workers", type=click.IntRange(1, 256), help="Client processes; cores less one."
    ),
    click.option(
        "--ray",
        metavar="ADDRESS",
        help="A Ray cluster whose machines send: auto, HOST:PORT, ray://HOST:PORT; one worker a core by default.",
    ),
    click.option(
        "--cold", is_flag=True, help="No warm-up; the prefix cache is emptied if it can be."
    ),
    click.option(
        "--on-interrupt",
        type=click.Choice([str(each) for each in OnInterrupt]),
        default="drain",
        help="What Ctrl-C does to requests under way; drain by default, twice cancels.",
    ),
    click.option(
        "--drain", metavar="TIME", default="10m", help="Most time after the last was sent; 10m."
    ),
    click.option("--interval", metavar="TIME", default="250ms", help="Between two samples; 250ms."),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default."
    ),
)


def load_options(function: Function) -> Function:
    """Adds them, in the order in which a help shows them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function

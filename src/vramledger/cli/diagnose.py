"""``vram diagnose RUN``: what makes a server slow, and whether more memory would help."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vramledger.cli.look_options import look_options, refuse_without_url, taken_out
from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput

if TYPE_CHECKING:
    from vramledger.cli.diagnose_asked import Answer


@click.command("diagnose")
@click.argument("run", metavar="RUN", required=False, type=click.Path(path_type=Path))
@click.option("--launch", help="The launch command, where the run does not say all of it.")
@click.option("--gpu", help="The accelerator, where the run does not say: a name of vram gpus.")
@click.option("--model", help="The model, where the run names a path that is not here.")
@click.option(
    "--engine-version", "version", help="The engine's version, where the run does not say."
)
@click.option(
    "--against",
    metavar="RUN2",
    type=click.Path(path_type=Path),
    help="A run of the same load with max_num_seqs lowered: did fewer tokens have to be computed twice?",
)
@click.option(
    "--upgrade",
    metavar="GPU",
    help="A card that might be bought: not needed, justified or unproven?",
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="GPU=AMOUNT",
    help="Of one GPU and hour, for the remedies.",
)
@click.option(
    "--server-log",
    metavar="FILE",
    help="Instead of a run, what a server printed: why it did not start, or - for the standard input.",
)
@click.option(
    "--metrics",
    multiple=True,
    metavar="URL|FILE",
    help="Instead of a run, a server's metrics page: each figure in one line, and what is easily misread. With --url, that server's page.",
)
@look_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    run: Path | None,
    *,
    server_log: str | None,
    metrics: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Causes of slow service, ranked by the evidence of the same windows of time.

    Each has what supports it, what contradicts it, what could not be seen, and the one change to try next. Exit code 0: nothing of
    severity error; 1: there is; 3: nothing could be seen. With --url a live server is looked at for a while; Ctrl-C ends that and judges
    what was seen. With --server-log a log is read instead: 0 it came up, 1 it failed of a known
    error, 3 what it failed of is not known.
    """
    look = taken_out(given)
    if look["url"] is None:
        refuse_without_url(look)
        if len(metrics) > 1:
            raise BadInput("--metrics explains one page at a time; give it once.")
        if metrics:
            from vramledger.cli.diagnose_log import show_page

            return show_page(metrics[0], run, {**given, "server_log": server_log}, as_json=as_json)
        if server_log is not None:
            from vramledger.cli.diagnose_log import show_log

            return show_log(server_log, run, given, as_json=as_json)
    need_full("vram diagnose", ("duckdb", "pyarrow", "numpy", "numba", "scipy", "statsmodels"))
    answer = _answer(run, server_log, metrics, look, given)
    if as_json:
        show_json(answer.document)
    else:
        show(answer.text)
    return answer.exit_code


def _answer(
    run: Path | None,
    server_log: str | None,
    metrics: tuple[str, ...],
    look: dict[str, Any],
    given: dict[str, Any],
) -> "Answer":
    """Of a run, or of a server that is looked at."""
    if look["url"] is None:
        from vramledger.cli.diagnose_asked import answer_of

        return answer_of(run, given)
    if server_log is not None:
        raise BadInput("--server-log has no part with --url; ask one at a time.")
    from vramledger.cli.diagnose_look import look_and_judge

    return look_and_judge(look, metrics, run, given)

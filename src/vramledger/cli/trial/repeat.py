"""``vram trial repeat N``: the same trial several times, or two servers in turn."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.trial.load_options import load_options
from vramledger.cli.trial.needs import MODULES


@click.command("repeat")
@click.argument("times", metavar="N", type=int)
@click.argument("plan", metavar="[PLAN]", required=False)
@click.option("--url", help="The server, such as http://localhost:8000.")
@click.option("--a", "url_a", metavar="URL", help="One of two servers, in place of --url.")
@click.option("--b", "url_b", metavar="URL", help="The other; the two are tried in turn.")
@click.option(
    "--order",
    type=click.Choice(["abab", "abba", "drawn"]),
    help="Of two servers in each pair; abab by default, drawn is by the seed.",
)
@load_options
@click.option(
    "-o", "out", type=click.Path(path_type=Path), help="The folder of all runs; the same goes on."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Send the same workload N times, with fresh texts and draws, and say how far one run can be trusted.

    Arrivals stay as they are. Every run is a folder of its own in DIR; DIR/repeat.json holds what they come to: figures over
    all requests, and the interval that runs differ by. The contract of a plan is held against these intervals: exit code 1
    when a line fails, 3 when one is open, and then it says how many more runs would decide it.

    With --a and --b both servers get each repetition's requests one after the other, and the difference is told pair by
    pair; where more than one thing differs between them, it is put down to none (exit code 3).

    The same command goes on with what is missing, also after Ctrl-C, and with a larger N makes that many.
    """
    need_full("vram trial repeat", (*MODULES, "scipy"))
    from vramledger.cli.trial.repeat_asked import folder_of, series_asked, trials_of
    from vramledger.cli.trial.repeat_shown import make, show_series
    from vramledger.methods.repeated.series import opened

    series = series_asked(asked)
    trials = trials_of(series)
    folder = folder_of(out, trials)
    make(folder, opened(folder, series), trials)
    return show_series(folder, as_json=as_json)

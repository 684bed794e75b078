"""``vram trial show RUN``: the summary of a run."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.trial.needs import READING


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: Path, *, as_json: bool) -> int:
    """The summary of a trial, of a series of repetitions or of a ramp, worked out anew from its records."""
    need_full("vram trial show", READING)
    from vramledger.methods.ramp.kept import SOAK, is_kept
    from vramledger.methods.repeated.series import is_series

    if is_series(run):
        from vramledger.cli.trial.repeat_shown import show_series

        need_full("vram trial show of repetitions", (*READING, "scipy"))
        return show_series(run, as_json=as_json)
    if is_kept(run):
        from vramledger.cli.trial.ramp_shown import show_ramp

        return show_ramp(run, as_json=as_json)
    if is_kept(run, SOAK):
        from vramledger.cli.trial.soak_run import show_soak

        need_full("vram trial show of a soak", (*READING, "scipy", "statsmodels"))
        return show_soak(run, as_json=as_json)
    from vramledger.cli.trial.shown import show_run

    return show_run(run, as_json=as_json)

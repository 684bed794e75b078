"""``vram trial resume RUN``: go on with a run that was cut off."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.cli.trial.needs import MODULES


@click.command("resume")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--close", is_flag=True, help="Do not go on: make the tables of what there is.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: Path, *, close: bool, as_json: bool) -> int:
    """Go on with the rest of a load whose recorder was stopped, in the same record and on the same clock.

    What was due in the meantime is sent as much later as the pause was long. Where the server, the workload or the clock
    is gone, the run is closed as it is and the reason said.

    Of a folder of vram trial repeat, the repetitions that are missing are made; of one of vram trial ramp
    or soak, the steps or segments.
    """
    need_full("vram trial resume", MODULES)
    from vramledger.methods.ramp.kept import SOAK, is_kept
    from vramledger.methods.repeated.series import is_series

    if is_series(run):
        from vramledger.cli.trial.repeat_shown import go_on

        return go_on(run, close=close, as_json=as_json)
    if is_kept(run):
        return _resume_ramp(run, close=close, as_json=as_json)
    if is_kept(run, SOAK):
        from vramledger.cli.trial.ramp import RAMP_MODULES
        from vramledger.cli.trial.soak_run import resume_soak

        need_full("vram trial resume of a soak", RAMP_MODULES)
        return resume_soak(run, close=close, as_json=as_json)
    from vramledger.cli.trial.live_view import live_view
    from vramledger.cli.trial.shown import show_run
    from vramledger.trial.conduct.resume import close_only, resume

    if close:
        close_only(run)
        return show_run(run, as_json=as_json)
    with live_view() as watch:
        conducted = resume(run, watch)
    show(f"Resumed {run}.", err=True)
    return show_run(conducted.folder, as_json=as_json, examples=conducted.course.examples)


def _resume_ramp(folder: Path, *, close: bool, as_json: bool) -> int:
    from vramledger.cli.trial.ramp import RAMP_MODULES
    from vramledger.cli.trial.ramp_run import resume_ramp

    need_full("vram trial resume of a ramp", RAMP_MODULES)
    return resume_ramp(folder, close=close, as_json=as_json)

"""``vram diagnose --url URL``: a live server is looked at for a while, then judged like a run."""

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.diagnose_asked import Answer, answer_for
from vramledger.cli.trial.live_view import live_view
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput
from vramledger.record.run import read_run
from vramledger.report.looked import look_json, look_line, look_text
from vramledger.trial.conduct.looking import LookAsked, Progress, look
from vramledger.trial.conduct.watch import Watch
from vramledger.trial.sampling.sampler import Level

_FOR_S: Final = 300.0
_INTERVAL_S: Final = 1.0
_SHORTEST_INTERVAL_S: Final = 0.05
_LONGEST_S: Final = 7 * 86_400.0


def look_and_judge(
    asked: Mapping[str, Any], metrics: tuple[str, ...], run: Path | None, stated: Mapping[str, Any]
) -> Answer:
    """Look at the server, then judge what was seen.

    Raises:
        BadInput: an option that has no sense, a server that cannot be reached, or a folder that is taken.
        CannotKnow: a server without a page of a known engine.
        UnknownName: a card, model or version that is none.
    """
    if run is not None:
        raise BadInput("A run and --url ask different questions; ask one at a time.")
    if stated.get("against") is not None:
        raise BadInput("--against compares two runs of one load, and a look sends none; leave it out.")  # fmt: skip
    wanted = look_asked(asked, metrics)
    keep: Path | None = asked["keep"]
    if keep is not None:
        return _answer(wanted, keep, stated, kept=True)
    with tempfile.TemporaryDirectory(prefix="vram-look-") as above:
        return _answer(wanted, Path(above) / "look", stated, kept=False)


def look_asked(asked: Mapping[str, Any], metrics: tuple[str, ...]) -> LookAsked:
    """What the options ask.

    Raises:
        BadInput: one has no sense.
    """
    if len(metrics) > 1:
        raise BadInput("--url has one metrics page; give --metrics once at most.")
    if asked["key_env"] and asked["key_file"]:
        raise BadInput("--key-env and --key-file both name a key; give one of them.")
    if asked["gpu_selector"] and not asked["gpu_metrics"]:
        raise BadInput("--gpu-selector picks from a Prometheus server; name it with --gpu-metrics URL.")  # fmt: skip
    for_s = _FOR_S if asked["lasting"] is None else seconds(asked["lasting"])
    if not 0 < for_s <= _LONGEST_S:
        raise BadInput(
            f"--for {asked['lasting']} is out of range; take more than 0 and at most a week."
        )
    interval_s = _INTERVAL_S if asked["interval"] is None else seconds(asked["interval"])
    if not _SHORTEST_INTERVAL_S <= interval_s <= for_s:
        raise BadInput(
            f"--interval {asked['interval'] or '1s'} is out of range; take {1000 * _SHORTEST_INTERVAL_S:.0f}ms to the time of --for."
        )
    key_file = asked["key_file"]
    return LookAsked(
        url=asked["url"],
        for_s=for_s,
        interval_s=interval_s,
        key_env=asked["key_env"],
        key_file=None if key_file is None else str(Path(key_file).absolute()),
        metrics_url=metrics[0] if metrics else None,
        gpu_metrics=asked["gpu_metrics"],
        gpu_selector=asked["gpu_selector"] or "",
    )


def _answer(asked: LookAsked, folder: Path, stated: Mapping[str, Any], *, kept: bool) -> Answer:
    with live_view() as watch:
        seen = look(asked, folder, _phases(watch, asked), _shown(watch))
        watch.phase("judging what was seen")
        found = answer_for(read_run(folder), stated)
    where = folder if kept else None
    return Answer(
        {**found.document, "look": look_json(seen, where)},
        f"{look_text(seen, where)}\n\n{found.text}",
        found.exit_code,
    )


def _phases(watch: Watch, asked: LookAsked) -> Callable[[str], None]:
    def phase(said: str) -> None:
        lasts = f" for {asked.for_s:g} s; Ctrl-C ends it and judges what was seen"
        watch.phase(said + lasts if said.startswith("looking") else said)

    return phase


def _shown(watch: Watch) -> Progress:
    """On a terminal one line that changes; elsewhere nothing more."""
    live = sys.stderr.isatty()

    def progress(t_s: float, for_s: float, level: Level | None) -> None:
        if live:
            watch.phase(look_line(t_s, for_s, {} if level is None else level.figures))

    return progress

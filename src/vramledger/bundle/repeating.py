"""The command that repeats a run, from inside the folder of its bundle."""

import shlex
from typing import Any, Final

from vramledger.bundle.contents import PLAN, Placed, workload_name

_URL: Final = "URL"  # of the server that is to be tried


def repeating(placed: Placed) -> str:
    """``vram trial run`` with the load, the seed and the options of a run; the server is for the reader to name."""
    about = placed.run.description
    extra = about.model_extra or {}
    trial = extra.get("trial")
    words = ["vram", "trial", "run", *([PLAN] if about.plan is not None else [])]
    if about.workload_sha256 is not None:
        words += ["--workload", workload_name(about.workload_sha256)]
    words += ["--url", _URL]
    if about.scenario is not None:
        words += ["--scenario", about.scenario]
    words += ["--seed", str(about.seed or 0)]
    return shlex.join([*words, *(_load(trial) if isinstance(trial, dict) else [])])


def _load(trial: dict[str, Any]) -> list[str]:
    load = trial.get("load") if isinstance(trial.get("load"), dict) else {}
    words: list[str] = []
    for option, value in (
        ("--closed", load.get("closed") if load else None),
        ("--for", load.get("duration_s") if load else None),
        ("--drain", trial.get("drain_s")),
        ("--interval", trial.get("interval_s")),
        ("--workers", trial.get("workers")),
    ):
        if isinstance(value, int | float):
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    if trial.get("rate_scale", 1.0) != 1.0:
        words += ["--rate-scale", f"{trial['rate_scale']:g}"]
    style = trial.get("load", {}).get("prompts", {}).get("style", {}) if load else {}
    if style.get("endpoint") == "completions":
        words += ["--api", "completions"]
    return [*words, *(["--cold"] if trial.get("cold") else [])]

"""The options of ``vram trial repeat`` as a series of trials, and back from its file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.trial.asked import new_folder, trial_asked
from vramledger.errors import BadInput
from vramledger.methods.repeated.conduct import Asked
from vramledger.methods.repeated.series import Series, check_times
from vramledger.methods.repeated.turns import Order, Side

_OWN: Final = ("times", "seed", "order")  # of the series; the rest is of every run


def series_asked(asked: Mapping[str, Any]) -> Series:
    """What the options ask.

    Raises:
        BadInput: no server, one of two, or a number of repetitions that says nothing.
    """
    check_times(asked["times"])
    pair = asked["url_a"], asked["url_b"]
    if any(pair) and not all(pair):
        missing = "--b" if asked["url_a"] else "--a"
        raise BadInput(
            f"Two servers are tried in turn, and {missing} is missing; give both, or --url for one."
        )
    if all(pair) and asked["url"]:
        raise BadInput("--url is one server, --a and --b are two; give the one or the others.")
    if all(pair) and pair[0].rstrip("/") == pair[1].rstrip("/"):
        raise BadInput(
            f"--a and --b are both {pair[0]}; name two servers, or repeat one with --url."
        )
    if asked["order"] is not None and not all(pair):
        raise BadInput("--order is that of two servers; give them with --a and --b.")
    order = Order(asked["order"] or Order.ABAB) if all(pair) else None
    options = {name: _plain(value) for name, value in asked.items() if name not in _OWN}
    return Series(asked["times"], asked["seed"], order, options)


def trials_of(series: Series) -> Asked:
    """The trial of each side.

    Raises:
        BadInput, UnknownName, CannotKnow: as of a single trial.
    """
    given = dict(series.options) | {"seed": series.seed}
    urls = {None: given["url"]} if series.order is None else {Side.A: given["url_a"], Side.B: given["url_b"]}  # fmt: skip
    return {side: trial_asked(_as_options(given | {"url": url})) for side, url in urls.items()}


def folder_of(out: Path | None, trials: Asked) -> Path:
    """The folder of all runs: the one given, or a new one in runs/."""
    if out is not None:
        return out
    first = next(iter(trials.values()))
    return new_folder(f"repeat {first.part.workload.stem}")


def _plain(value: Any) -> Any:
    """As JSON holds it; files by their whole path, so that the series goes on from anywhere."""
    return str(value.absolute()) if isinstance(value, Path) else value


def _as_options(given: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(given)
    for name in _FILES:
        if found[name] is not None:
            found[name] = Path(found[name])
    return found


_FILES: Final = ("workload", "server_log", "tokenizer", "prompts", "stages")

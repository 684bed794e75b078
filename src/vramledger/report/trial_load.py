"""What load a trial sent, in words."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vramledger.record.document import Ended
from vramledger.report.number import duration
from vramledger.trial.conduct.summary import Summary

_AT_ONCE_S: Final = 1e-3  # a load that is over sooner has no rate
_ENDED: Final = {
    Ended.COMPLETE: "whole: all of the load was sent and ended",
    Ended.CUT: "as planned: sent for the time asked for",
    Ended.INTERRUPTED: "interrupted",
    Ended.FAILED: "failed: an error ended it",
    Ended.KILLED: "killed: its recorder was stopped, and it was closed later",
}
_AT_THE_LIMIT: Final = "at the limit of --drain: what was still under way was cancelled"


def load_words(found: Summary) -> str:
    """Which part of which workload, at what rate, for how long, and how requests are put."""
    return "; ".join((_part(found), _pace(found.trial), ", ".join(_style(found.trial))))


def ended_words(found: Summary) -> str:
    """How the run ended."""
    ended = found.description.ended
    if ended is Ended.CUT and found.story.how == "drain_limit":
        return _AT_THE_LIMIT
    return "it has not" if ended is None else _ENDED[ended]


def _part(found: Summary) -> str:
    about = found.description
    part = "the workload" if about.scenario is None else f"scenario {about.scenario}"
    return part if about.plan is None else f"{part} of the plan in run.json"


def _pace(trial: Mapping[str, Any]) -> str:
    load = trial["load"]
    length, period = load["duration_s"], load["period_s"]
    if load["closed"] is not None:
        clients = f"{load['closed']:,} client{'s' if load['closed'] > 1 else ''} in a closed loop"
        return clients if length is None else f"{clients} for {duration(length)}"
    times = trial["rate_scale"]
    pace = "at its own rate" if times == 1 else f"at {times:g} times its rate"
    if length is None and period < _AT_ONCE_S:
        return "all of it at once"
    if length is None:
        return f"{pace}, all of its {duration(period)}"
    return f"{pace}, {duration(length)} of its {duration(period)}"


def _style(trial: Mapping[str, Any]) -> Iterator[str]:
    prompts = trial["load"]["prompts"]
    yield prompts["style"]["endpoint"]
    if prompts["own"] is not None:
        yield "prompts of your own"
    if (prompts["lexicon"] or {}).get("as_ids"):
        yield "prompts as token ids"

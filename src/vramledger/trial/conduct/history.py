"""What a run's journal tells of its phases and its workers."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.journal import Entry
from vramledger.trial.client.health import Health


@frozen
class Span:
    """A time in which the load was sent, in seconds of the run; second 0 of the load is at `load_zero_s`."""

    from_s: float
    to_s: float
    load_zero_s: float


@frozen
class Pause:
    """From `from_s` of the run on nothing was sent for `seconds`, and the rest of the load came as much later."""

    from_s: float
    seconds: float


@frozen
class Story:
    """A run by its journal. `spans` has more than one where a run was resumed; `how` is how its load ended, None where it did not."""

    spans: tuple[Span, ...]
    how: str | None
    healths: tuple[Health, ...]
    lost: tuple[str, ...]
    warm_up: dict[str, Any] | None
    interrupted: bool
    resumed: int
    pids: tuple[int, ...]
    events: tuple[Entry, ...]

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """The times between what was sent before the recorder vanished and what was sent after."""
        return tuple(
            Pause(before.to_s, after.load_zero_s - before.load_zero_s)
            for before, after in pairwise(self.spans)
        )

    @property
    def from_s(self) -> float | None:
        """When the measured part began."""
        return self.spans[0].from_s if self.spans else None


_TOLD = ("gap_began", "server_restarted", "counters_fell", "several_servers", "worker_lost", "gpu_xid",
         "gpu_ecc_errors", "drain_limit", "prefix_cache_reset", "resumed", "interrupted",
         "stages_read", "stages_unread", "client_clocks")  # fmt: skip


def story_of(entries: Sequence[Entry]) -> Story:
    """The story of a journal, whether its run is closed or not.

    Raises:
        BadInput: a line lacks what belongs to its event.
    """
    try:
        return _story(entries)
    except (KeyError, TypeError):
        raise BadInput(
            "A line of the run's journal lacks what belongs to its event; use an unchanged copy of the run."
        ) from None


def _story(entries: Sequence[Entry]) -> Story:
    spans: list[Span] = []
    how: str | None = None
    for entry in entries:
        name = entry.details.get("name") if entry.event == "phase" else None
        if name == "measured":
            spans.append(Span(entry.t_s, entry.t_s, entry.details["load_zero_s"]))
            how = None
        elif name == "drained" and spans:
            how = entry.details["how"]
            spans[-1] = Span(spans[-1].from_s, entry.t_s, spans[-1].load_zero_s)
        elif spans and entry.event == "resumed":
            spans[-1] = Span(spans[-1].from_s, entry.details["known_to_s"], spans[-1].load_zero_s)
    return Story(
        spans=tuple(spans),
        how=how,
        healths=tuple(
            Health.from_json(each.details["health"])
            for each in entries
            if each.event == "worker_ended"
        ),
        lost=tuple(each.details["writer"] for each in entries if each.event == "worker_lost"),
        warm_up=next(
            (dict(each.details) for each in reversed(entries) if each.event == "warm_up_ended"),
            None,
        ),
        interrupted=any(each.event == "interrupted" for each in entries),
        resumed=sum(each.event == "resumed" for each in entries),
        pids=tuple(each.details["pid"] for each in entries if each.event == "worker_started"),
        events=tuple(each for each in entries if each.event in _TOLD),
    )

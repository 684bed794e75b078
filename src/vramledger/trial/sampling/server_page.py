"""One server's metrics page as rows: what changed since the last page, and whether it restarted.

Gauges of the vocabulary have a row a page; every other series has one when it changes, and one without a value when
it is no longer there. A row named `up` stands for each page that was read, so that readers can fill in the rest.
"""

from collections.abc import Mapping
from math import isfinite, isnan, nan
from typing import Final

from vramledger.engine.metrics.names import NAMES
from vramledger.engine.metrics.page import PageProblem, PageReader
from vramledger.engine.metrics.vocabulary import Match, chosen, match
from vramledger.record.samples import MetricKind, Sample
from vramledger.trial.sampling.fetching import PageConnection
from vramledger.trial.sampling.restarts import Restarts
from vramledger.trial.sampling.source import Clock, Event, Missed, Taken
from vramledger.trial.sampling.target import Target

UP: Final = "up"
_START: Final = "process_start_s"
_LATEST_S: Final = 1e11  # the year 5138
_EACH_TIME: Final = frozenset(row.name for row in NAMES if row.shape == "gauge") - {
    "process_start_s"
}
_LARGEST: Final = (
    frozenset(  # of several engines' figures the largest is shown, of all others the sum
        {"kv_usage", "prefix_hit_rate", "spec_accept_rate", "spec_accept_length", _START}
    )
)


class ServerPage:
    """A source of server rows.

    `timeout_s` bounds one reading; a slower answer is a gap.
    """

    every_s: float | None = None

    def __init__(self, target: Target, timeout_s: float = 5.0) -> None:
        self.name = target.name
        self._connection = PageConnection(target.url, target.headers, timeout_s)
        self._reader = PageReader()
        self._matches: list[Match | None] = []
        self._names: list[str | None] = []
        self._last: dict[int, float] = {}
        self._restarts = Restarts(target.name)
        self._told_doubled = False

    def take(self, clock: Clock) -> Taken:
        """The page now."""
        asked_s = clock.now_s()
        page = self._connection.get()
        scrape_s = clock.now_s() - asked_s
        try:
            values = self._reader.read(page.body.decode("utf-8"))
        except UnicodeDecodeError:
            raise Missed("not_metrics", "what it sends is no text") from None
        except PageProblem as problem:
            raise Missed("not_metrics", f"what it sends is no metrics page: {problem}") from None
        if not values:
            raise Missed("not_metrics", "what it sends is a page without a single metric")
        if len(self._matches) < len(self._reader.series):
            self._name_new()
        events = self._events(values, started_at(page.headers))
        rows = self._rows(values, asked_s, scrape_s)
        self._last = values
        return Taken(rows, events, self._levels(values))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _name_new(self) -> None:
        """Common names of all series so far; a new series may take the name from an older one."""
        new = self._reader.series[len(self._matches) :]
        self._matches += [match(each.raw_name, each.label_values) for each in new]
        counting = chosen(self._matches)
        self._names = [m.name if m and m in counting else None for m in self._matches]

    def _events(self, values: Mapping[int, float], start: float | None) -> tuple[Event, ...]:
        series, names = self._reader.series, self._names
        if start is None:
            told = (v for number, v in values.items() if names[number] == _START)
            start = next((value for value in told if is_moment(value)), None)
        events = self._restarts.seen(start, values, self._last, series)
        if self._reader.doubled and not self._told_doubled:
            self._told_doubled = True
            doubled = {"target": self.name, "lines": self._reader.doubled}
            events = (*events, Event("metrics_doubled", doubled))
        return events

    def _rows(
        self, values: Mapping[int, float], asked_s: float, scrape_s: float
    ) -> tuple[Sample, ...]:
        last, names, series = self._last, self._names, self._reader.series
        rows = [Sample(asked_s, self.name, UP, MetricKind.GAUGE, 1.0, scrape_s, UP)]
        gone = dict.fromkeys(last.keys() - values.keys(), nan)
        for number, value in (*values.items(), *gone.items()):
            each, name = series[number], names[number]
            if name in _EACH_TIME or _differs(value, last.get(number)):
                told = value if isfinite(value) else None
                rows.append(
                    Sample(asked_s, self.name, each.raw_name, each.kind, told, scrape_s, name, each.labels)
                )  # fmt: skip
        return tuple(rows)

    def _levels(self, values: Mapping[int, float]) -> dict[str, float]:
        levels: dict[str, float] = {}
        for number, value in values.items():
            name = self._names[number]
            if (
                name is None
                or self._reader.series[number].kind is MetricKind.BUCKET
                or not isfinite(value)
            ):
                continue
            before = levels.get(name)
            if before is None:
                levels[name] = value
            else:
                levels[name] = max(before, value) if name in _LARGEST else before + value
        return levels


def started_at(headers: Mapping[str, str]) -> float | None:
    """When the process began, seconds since 1970, from the header that llama.cpp sends with its page."""
    try:
        told = float(headers["process-start-time-unix"])
    except (KeyError, ValueError):
        return None
    return told if is_moment(told) else None


def is_moment(value: float) -> bool:
    """Whether a figure can be seconds since 1970 up to now, give or take what clocks are apart; a page may say anything."""
    return isfinite(value) and 0.0 < value < _LATEST_S


def _differs(value: float, last: float | None) -> bool:
    return last is None or (value != last and not (isnan(value) and isnan(last)))

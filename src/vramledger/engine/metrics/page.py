"""Metrics pages in Prometheus' text format and in OpenMetrics, read again and again at little cost.

Most of a page is the same from one reading to the next, so a series is parsed once and known by its text after that.
What a line may be: https://prometheus.io/docs/instrumenting/exposition_formats/ and
https://prometheus.io/docs/specs/om/open_metrics_spec/.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.samples import MetricKind

MOST_SERIES: Final = 100_000
_LINE: Final = re.compile(
    r'(?P<series>(?P<name>[a-zA-Z_:][\w:]*)[ \t]*(?:\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?)'
    r"[ \t]*(?<=[ \t}])(?P<value>[^\s#]+)(?:[ \t]+[-+.\deE]+)?[ \t]*(?:#[ \t].*)?",
    re.ASCII,
)
_LABEL: Final = re.compile(
    r'[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,|$)', re.ASCII
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED: Final = {"n": "\n"}
_TYPE: Final = re.compile(r"#[ \t]+TYPE[ \t]+([a-zA-Z_:][\w:]*)[ \t]+(\w+)", re.ASCII)
_CREATED: Final = "_created"
_COUNTING: Final = {"histogram": ("_sum", "_count"), "summary": ("_sum", "_count")}


class PageProblem(Exception):
    """A page that is no metrics page; `str()` is why, without anything that stands on it."""


@frozen
class Series:
    """One line of a page without its value. `labels` is a JSON object with sorted keys, as in server.parquet."""

    raw_name: str
    labels: str
    kind: MetricKind
    label_values: Mapping[str, str]


class PageReader:
    """Reads one server's pages. `series` holds every series seen so far by its number."""

    def __init__(self) -> None:
        self.series: list[Series] = []
        self._known: dict[str, int] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._types: dict[str, str] = {}
        self._comments: set[str] = set()
        self.doubled = 0  # lines of the last page that said what another line had said

    def read(self, text: str) -> dict[int, float]:
        """The values of a page by the number of their series; a series that is there twice has its first.

        Raises:
            PageProblem: a line is none of a metrics page, or there are too many.
        """
        values: dict[int, float] = {}
        known, self.doubled = self._known, 0
        for line in text.split("\n"):
            if not line or line[0] == "#":
                if line not in self._comments:
                    self._comment(line)
                continue
            at = line.rfind(" ")
            number = known.get(line[:at])
            if number is None:
                if not line.strip():
                    continue
                number, told = self._parsed(line)
            else:
                told = line[at:]
            if number in values:
                self.doubled += 1
            else:
                values[number] = _number(told)
        return values

    def _comment(self, line: str) -> None:
        typed = _TYPE.match(line)
        if typed:
            self._types[typed[1]] = typed[2].casefold()
        if len(self._comments) < MOST_SERIES:
            self._comments.add(line)

    def _parsed(self, line: str) -> tuple[int, str]:
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise PageProblem("a line of it is no sample of a metrics page")
        labels = _labels(found["labels"] or "")
        text = json.dumps(labels, sort_keys=True, separators=(",", ":"))
        key = (found["name"], text)
        number = self._numbers.get(key)
        if number is None:
            number = self._add(key, labels)
        self._known[found["series"].strip()] = number
        return number, found["value"]

    def _add(self, key: tuple[str, str], labels: Mapping[str, str]) -> int:
        if len(self.series) >= MOST_SERIES:
            raise PageProblem(f"it has had more than {MOST_SERIES:,} different series")
        name, text = key
        kind = kind_of(name, self._types, labels)
        self.series.append(Series(name, text, kind, labels))
        self._numbers[key] = len(self.series) - 1
        return len(self.series) - 1


def kind_of(name: str, types: Mapping[str, str], labels: Mapping[str, str]) -> MetricKind:
    """How the figure behaves, by the family's stated type, else by the endings that clients use."""
    if name.endswith("_bucket") and "le" in labels:
        return MetricKind.BUCKET
    stated = types.get(name) or types.get(name.removesuffix("_total"))
    if stated == "counter":
        return MetricKind.COUNTER
    if stated is not None:
        return MetricKind.GAUGE
    for family, endings in _COUNTING.items():
        if any(
            types.get(name.removesuffix(end)) == family for end in endings if name.endswith(end)
        ):
            return MetricKind.COUNTER
    return MetricKind.COUNTER if name.endswith("_total") else MetricKind.GAUGE


def _labels(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text) and text[at:].strip():
        label = _LABEL.match(text, at)
        if label is None:
            raise PageProblem("the labels of a line are not closed or not named")
        found[label[1]] = _ESCAPED.sub(lambda m: _UNESCAPED.get(m[1], m[1]), label[2])
        at = label.end()
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PageProblem("a value on it is no number") from None

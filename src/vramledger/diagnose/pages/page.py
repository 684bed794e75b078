"""A metrics page as families: what each is called in the common vocabulary, and its value over all series."""

import re
from collections.abc import Mapping
from math import isfinite, isnan, nan
from typing import Final

from vramledger.engine.metrics.names import BY_NAME, CommonName
from vramledger.engine.metrics.page import PageProblem, PageReader, Series
from vramledger.engine.metrics.vocabulary import chosen, engine_of, match
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen

_LARGEST: Final = frozenset(
    {"kv_usage", "prefix_hit_rate", "spec_accept_rate", "spec_accept_length", "process_start_s"}
)
_PARTS: Final = re.compile(r"_(?:bucket|sum|count|created|total)$")
_START: Final = "process_start_s"


@frozen
class Histogram:
    """Observations of one family over all series: cumulative counts by the upper ends of buckets."""

    count: float
    total: float
    buckets: tuple[tuple[float, float], ...]

    @property
    def mean(self) -> float:
        """NaN where nothing was observed, or the page has no sum."""
        return self.total / self.count if self.count > 0 else nan

    def bounds(self, share: float) -> tuple[float, float] | None:
        """The ends of the bucket in which a percentile lies; None where nothing was observed."""
        lower = 0.0
        for end, seen in self.buckets:
            if self.count > 0 and seen >= share * self.count:
                return lower, end
            lower = end
        return None


@frozen
class Family:
    """One family that the vocabulary has. `value` is the sum over its series, or the largest where sums mean nothing."""

    raw_name: str
    common: CommonName
    series: int
    value: float
    histogram: Histogram | None = None


@frozen
class MetricsPage:
    """A page. `labels` are the values of each label; `names` every raw name without the endings of parts."""

    where: str
    engine: str
    families: tuple[Family, ...]
    unknown: tuple[str, ...]
    names: frozenset[str]
    labels: Mapping[str, frozenset[str]]
    not_numbers: tuple[str, ...]
    doubled: int
    created: int
    http: Mapping[str, float]  # requests by path and status, where a web framework counts them

    def of(self, name: str) -> Family | None:
        """The family of a common name, None where the page has none."""
        return next((each for each in self.families if each.common.name == name), None)


def read_page(text: str, where: str) -> MetricsPage:
    """A page's text.

    Raises:
        BadInput: it is no metrics page.
        CannotKnow: it is one, but no serving engine's.
    """
    if text.lstrip()[:1] in ("[", "{") and '"iter' in text[:4096]:
        raise BadInput(
            f"{where} is TensorRT-LLM's list of iterations, and reading it takes them away; give its /prometheus/metrics."
        )
    reader = PageReader()
    try:
        values = reader.read(text)
    except PageProblem as problem:
        raise BadInput(
            f"{where} is no metrics page: {problem}; give what the server's /metrics answers."
        ) from None
    if not values:
        raise BadInput(f"{where} has no metric; give what the server's /metrics answers.")
    engine = engine_of(each.raw_name for each in reader.series)
    if engine is None:
        raise CannotKnow(
            f"{where} has no metric of a serving engine that is known; give the engine's own page."
        )
    rows = [(reader.series[number], value) for number, value in values.items()]
    return _page(rows, where, engine, reader.doubled)


def _page(rows: list[tuple[Series, float]], where: str, engine: str, doubled: int) -> MetricsPage:
    labels: dict[str, set[str]] = {}
    for series, _ in rows:
        for name, value in series.label_values.items():
            labels.setdefault(name, set()).add(value)
    return MetricsPage(
        where=where,
        engine=engine,
        families=_families(rows),
        unknown=tuple(
            sorted(
                {
                    _base(s.raw_name)
                    for s, _ in rows
                    if match(s.raw_name, s.label_values) is None
                    and not s.raw_name.endswith("_created")
                }
            )
        ),
        names=frozenset(_base(series.raw_name) for series, _ in rows),
        labels={name: frozenset(found) for name, found in labels.items()},
        not_numbers=tuple(sorted({s.raw_name for s, value in rows if not isfinite(value)})),
        doubled=doubled,
        created=sum(series.raw_name.endswith("_created") for series, _ in rows),
        http=_http(rows),
    )


def _base(name: str) -> str:
    return _PARTS.sub("", name)


def _families(rows: list[tuple[Series, float]]) -> tuple[Family, ...]:
    matches = [match(series.raw_name, series.label_values) for series, _ in rows]
    counting = chosen(matches)
    groups: dict[str, list[tuple[Series, float, str]]] = {}
    for (series, value), found in zip(rows, matches, strict=True):
        if found is None or found not in counting:
            continue
        common, part = _common(found.name)
        if common is not None:
            groups.setdefault(common.name, []).append((series, value, part))
    order = {name: at for at, name in enumerate(BY_NAME)}
    return tuple(
        _family(BY_NAME[name], group)
        for name, group in sorted(groups.items(), key=lambda pair: order[pair[0]])
    )


def _common(name: str) -> tuple[CommonName | None, str]:
    for part in ("_sum", "_count"):
        stem = name.removesuffix(part)
        if stem != name and stem in BY_NAME and BY_NAME[stem].shape == "histogram":
            return BY_NAME[stem], part
    return BY_NAME.get(name), ""


def _family(common: CommonName, group: list[tuple[Series, float, str]]) -> Family:
    first = group[0][0]
    known = [value for _, value, _ in group if isfinite(value)]
    if common.shape == "histogram":
        return Family(_base(first.raw_name), common, len(group), nan, _histogram(group))
    value = nan if not known else max(known) if common.name in _LARGEST else sum(known)
    return Family(first.raw_name, common, len(group), value)


def _histogram(group: list[tuple[Series, float, str]]) -> Histogram:
    buckets: dict[float, float] = {}
    parts = {"_sum": 0.0, "_count": 0.0}
    for series, value, part in group:
        if not isfinite(value):
            continue
        if part:
            parts[part] += value
        elif (end := _end(series.label_values.get("le", ""))) is not None:
            buckets[end] = buckets.get(end, 0.0) + value
    count = parts["_count"] or max(buckets.values(), default=0.0)
    return Histogram(count, parts["_sum"], tuple(sorted(buckets.items())))


def _end(text: str) -> float | None:
    try:
        end = float(text)
    except ValueError:
        return None
    return None if isnan(end) else end


def _http(rows: list[tuple[Series, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for series, value in rows:
        path = series.label_values.get("handler") or series.label_values.get("endpoint") or ""
        if (
            series.raw_name.startswith("http_requests")
            and path.startswith("/v1/")
            and isfinite(value)
            and not series.raw_name.endswith("_created")
        ):
            found[path] = found.get(path, 0.0) + value
    return found


def started_at(page: MetricsPage) -> float | None:
    """When the server's process began, seconds since 1970, where the page says so."""
    found = page.of(_START)
    return (
        found.value
        if found is not None and isfinite(found.value) and 0 < found.value < 1e11
        else None
    )

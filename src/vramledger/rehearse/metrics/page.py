"""The metrics page of one server process: every family of the version, kept by the client library that vLLM uses."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from vramledger.frozen import frozen
from vramledger.rehearse.metrics.families import (
    FAMILIES,
    REJECTIONS,
    SPECULATION,
    Family,
    Figure,
    Kind,
    Version,
    one_two_five,
)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_ENGINE: Final = "0"
_TYPES: Final[dict[Kind, Any]] = {
    Kind.GAUGE: Gauge,
    Kind.COUNTER: Counter,
    Kind.HISTOGRAM: Histogram,
}


@frozen
class Identity:
    """What every page of a rehearsed server says of it."""

    model_name: str
    version: Version
    max_model_len: int
    cache_config: Mapping[str, str]
    speculates: bool = False


class Page:
    """Counts from 0; `label` chooses the value of a family's own label."""

    def __init__(self, identity: Identity, started_s: float) -> None:
        self._registry = CollectorRegistry()
        self._children: defaultdict[tuple[Figure, str], list[Any]] = defaultdict(list)
        wanted = (*FAMILIES, REJECTIONS, *(SPECULATION if identity.speculates else ()))
        for family in wanted:
            if family.since <= identity.version <= family.until:
                self._add_family(family, identity)
        self._add_others(identity, started_s)

    def add(self, figure: Figure, amount: float = 1, label: str = "") -> None:
        """Count more."""
        for child in self._children[figure, label]:
            child.inc(amount)

    def set(self, figure: Figure, value: float, label: str = "") -> None:
        """Show a value."""
        for child in self._children[figure, label]:
            child.set(value)

    def observe(self, figure: Figure, value: float) -> None:
        """Put one more into a histogram."""
        for child in self._children[figure, ""]:
            child.observe(value)

    def answered(self, handler: str, method: str, status: int) -> None:
        """A response to a request was whole, or its client went away."""
        self._http.labels(handler, method, f"{status // 100}xx").inc()

    def late(self, seconds: float) -> None:
        """How far the simulation is behind the clock."""
        self._lag.set(seconds)

    def text(self) -> bytes:
        """The page."""
        return generate_latest(self._registry)

    def _add_family(self, family: Family, identity: Identity) -> None:
        common = {"model_name": identity.model_name}
        if family.figure is not Figure.REJECTIONS:
            common["engine"] = _ENGINE
        labels = (*common, *((family.label,) if family.label else ()))
        options: dict[str, Any] = {"registry": self._registry}
        if family.kind is Kind.HISTOGRAM:
            options["buckets"] = family.buckets or one_two_five(identity.max_model_len)
        made = _TYPES[family.kind](f"vllm:{family.name}", family.help, labels, **options)
        for value in family.values or ("",):
            child = made.labels(*common.values(), *((value,) if family.label else ()))
            self._children[family.figure, value].append(child)

    def _add_others(self, identity: Identity, started_s: float) -> None:
        config = {**identity.cache_config, "engine": _ENGINE}
        info = Gauge(
            "vllm:cache_config_info", "The cache's configuration.", config, registry=self._registry
        )
        info.labels(**config).set(1)
        started = Gauge(
            "process_start_time_seconds",
            "When the process started, in seconds since the epoch.",
            registry=self._registry,
        )
        started.set(started_s)
        self._http = Counter(
            "http_requests",
            "Requests by method, status and handler.",
            ("handler", "method", "status"),
            registry=self._registry,
        )
        self._lag = Gauge(
            "vramledger:rehearsal_lag_seconds",
            "How far the simulation was behind the clock, at most, in the last seconds.",
            registry=self._registry,
        )

"""Figures that a Prometheus server has collected already, when neither the engine nor its GPUs can be asked.

Every few seconds it is asked for the raw samples of the time since, whose own moments are kept, so that they lie on the
run's clock as far as the wall clocks of both machines agree. https://prometheus.io/docs/prometheus/latest/querying/api/
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, Final
from urllib.parse import quote

from vramledger.engine.metrics.page import kind_of
from vramledger.engine.metrics.vocabulary import chosen, match
from vramledger.frozen import frozen
from vramledger.record.samples import Sample
from vramledger.trial.sampling.dcgm import COLUMNS, Told, gpu_rows
from vramledger.trial.sampling.fetching import PageConnection
from vramledger.trial.sampling.source import Clock, Missed, Taken
from vramledger.trial.sampling.target import Target

EVERY_S: Final = (
    10.0  # a Prometheus server scrapes every 5 to 60 s, so asking more often brings nothing
)
_BACK_S: Final = 120  # samples may arrive late
_GPU: Final = "DCGM_FI_DEV_.+"
_ENGINES: Final = (
    "(vllm|sglang|llamacpp|lmdeploy|trtllm):.+|(ray_vllm|tgi|trtllm|nv_trt_llm|dynamo)_.+"
)
_WHOLE: Final = 1e-3  # moments come with milliseconds


@frozen
class _Point:
    """One sample: seconds since 1970, its series and its value."""

    at: float
    labels: Mapping[str, str]
    value: float


class PrometheusServer:
    """A source of GPU rows and server rows.

    Args:
        target: its address, such as `http://prometheus:9090`.
        selector: matchers that pick the machine, such as `instance="gpu-1:9400"`; empty for everything.
        gpus: whether to ask for the fields of a DCGM exporter.
        engine: whether to ask for the metrics of a serving engine.
        wall: the wall clock.
    """

    every_s: float | None = EVERY_S

    def __init__(
        self,
        target: Target,
        selector: str = "",
        *,
        gpus: bool = True,
        engine: bool = False,
        timeout_s: float = 10.0,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.name, self._target, self._wall, self._timeout_s = target.name, target, wall, timeout_s
        names = "|".join([_GPU] * gpus + [_ENGINES] * engine)
        inner = f'__name__=~"{names}"' + (f",{selector}" if selector else "")
        self._query = f"{{{inner}}}[{_BACK_S}s]"
        self._since: dict[str, float] = {}
        self._began: float | None = None

    def take(self, clock: Clock) -> Taken:
        """The samples since the last question."""
        zero = self._wall() - clock.now_s()
        self._began = self._wall() if self._began is None else self._began
        points = self._points(self._ask())
        new = [point for point in points if self._is_new(point)]
        for point in new:
            self._since[_key(point.labels)] = point.at
        return Taken((*_gpus(new, zero), *self._samples(new, zero)))

    def close(self) -> None:
        """Nothing is held between questions."""

    def _ask(self) -> Sequence[Any]:
        url = f"{self._target.url.rstrip('/')}/api/v1/query?query={quote(self._query)}"
        connection = PageConnection(url, self._target.headers, self._timeout_s)
        try:
            document = json.loads(connection.get().body)
            result = document["data"]["result"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Missed("bad_json", "its answer is none of Prometheus' API") from None
        finally:
            connection.close()
        return result if isinstance(result, list) else ()

    def _points(self, result: Sequence[Any]) -> list[_Point]:
        try:
            return [
                _Point(float(at), series["metric"], float(value))
                for series in result
                for at, value in series["values"]
            ]
        except (ValueError, KeyError, TypeError):
            raise Missed("bad_json", "its answer is none of Prometheus' API") from None

    def _is_new(self, point: _Point) -> bool:
        began = self._began or 0.0
        return point.at >= began - _WHOLE and point.at > self._since.get(_key(point.labels), 0.0)

    def _samples(self, points: Sequence[_Point], zero: float) -> Iterator[Sample]:
        """Rows of the engine's metrics; of several names for one figure the preferred one is named."""
        told = [point for point in points if point.labels.get("__name__") not in COLUMNS]
        matches = [match(point.labels.get("__name__", ""), point.labels) for point in told]
        counting = chosen(matches)
        for point, found in zip(told, matches, strict=True):
            name = point.labels.get("__name__", "")
            if name.startswith("DCGM_"):
                continue
            labels = {key: value for key, value in point.labels.items() if key != "__name__"}
            yield Sample(
                point.at - zero,
                self.name,
                name,
                kind_of(name, {}, labels),
                None if isnan(point.value) else point.value,
                name=found.name if found is not None and found in counting else None,
                labels=json.dumps(labels, sort_keys=True, separators=(",", ":")),
            )


def _gpus(points: Sequence[_Point], zero: float) -> Iterator[Any]:
    """One row for each moment at which the exporter was read."""
    moments: dict[float, list[Told]] = {}
    for point in points:
        name = point.labels.get("__name__", "")
        if name in COLUMNS:
            moments.setdefault(point.at, []).append(Told(name, point.labels, point.value))
    for at, told in sorted(moments.items()):
        yield from gpu_rows(at - zero, told)


def _key(labels: Mapping[str, str]) -> str:
    return json.dumps(dict(labels), sort_keys=True)

"""AIPerf's ``profile_export_aiperf.csv`` as the aggregate that its JSON is: the same figures, rounded to two decimals.

https://github.com/ai-dynamo/aiperf: `exporters/metrics_csv_exporter.py`. Figures with percentiles come first, single ones after them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.trial.imported.sources import Source

ROUNDED: Final = 0.005  # of a figure, either way
_HEAD: Final = ("Metric", "avg")
_SINGLE: Final = ("Metric", "Value")
_UNIT: Final = re.compile(r"(.*?)(?: \((.*)\))?")
_TAGS: Final = {
    "Time to First Token": "time_to_first_token",
    "Inter Token Latency": "inter_token_latency",
    "Inter Chunk Latency": "inter_chunk_latency",
    "Request Latency": "request_latency",
    "Request Count": "request_count",
    "Request Throughput": "request_throughput",
    "Output Token Throughput": "output_token_throughput",
    "Benchmark Duration": "benchmark_duration",
}


def is_table(source: Source) -> bool:
    """Whether it is one."""
    return any(row[:2] in (_HEAD, _SINGLE) for row in source.table[:1])


def aggregate_of(source: Source) -> Mapping[str, Any]:
    """The figures as AIPerf's JSON names them.

    Raises:
        BadInput: a figure is no number.
    """
    return dict(_figures(source))


def _figures(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    names: Sequence[str] = ()
    for number, row in enumerate(source.table, 1):
        if row[0] == _HEAD[0]:
            names = ("avg",) if row[:2] == _SINGLE else row[1:]
            continue
        matched = _UNIT.fullmatch(row[0])
        tag = _TAGS.get(matched[1]) if matched is not None else None
        if tag is not None and matched is not None:
            told = {name: _number(source, number, cell) for name, cell in zip(names, row[1:], strict=False) if cell}  # fmt: skip
            yield tag, {"unit": matched[2], **told}


def _number(source: Source, row: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise BadInput(f"{source.path}, row {row}: {cell[:40]!r} is no number; use an unchanged copy of the file.") from None  # fmt: skip

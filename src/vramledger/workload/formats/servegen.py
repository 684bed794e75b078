"""ServeGen's clients: rates and length distributions, from which it draws requests; no log of any.

`chunk-N-trace.csv` has no header: seconds, requests per second, coefficient of variation, the name of an
arrival pattern or nothing, and its two parameters. `chunk-N-dataset.json` has, for each window of time,
probabilities of input_tokens and output_tokens as text.
Source: https://github.com/alibaba/ServeGen (data/).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Parser

_PATTERNS: Final = ("Gamma", "Weibull", "Exponential", "Poisson", "")
_LENGTHS: Final = {"input_tokens", "output_tokens"}
_REFUSAL: Final = (
    "This describes rates and lengths of a ServeGen client and holds no requests; "
    "`vram workload synth --like` reads it and draws requests from it."
)


def _recognise(head: Head) -> bool:
    if head.framing in (Framing.CSV, Framing.CSV_BARE):
        rows = [tuple(each.values()) for each in head.records]
        if head.framing is Framing.CSV:
            rows.insert(0, head.columns)
        return bool(rows) and all(_is_rate(row) for row in rows)
    return any(_is_window(value) for value in _inner(head.records))


def _is_rate(row: Sequence[Any]) -> bool:
    if len(row) != 6 or row[3] not in _PATTERNS:
        return False
    try:
        numbers = [float(each) for each in row[:3]]
    except (TypeError, ValueError):
        return False
    return numbers[0] % 60 == 0 and min(numbers) >= 0


def _inner(records: Iterable[Mapping[str, Any]]) -> Iterable[Any]:
    for record in records:
        yield record
        yield from record.values()


def _is_window(value: Any) -> bool:
    """{"input_tokens": "{50: 0.23, ...}", "output_tokens": "{...}"}."""
    return (
        isinstance(value, Mapping)
        and value.keys() == _LENGTHS
        and all(isinstance(each, str) and each.startswith("{") for each in value.values())
    )


def _parser(_context: Context) -> Parser:
    raise BadInput(_REFUSAL)


FORMAT: Final = LogFormat(
    name="servegen",
    title="ServeGen client description (no requests)",
    framings=(Framing.CSV_BARE, Framing.CSV, Framing.JSON, Framing.JSONL),
    clock=Clock.NONE,
    recognise=_recognise,
    parser=_parser,
    source="https://github.com/alibaba/ServeGen",
    refusal=_REFUSAL,
)

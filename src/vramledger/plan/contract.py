"""The contract of a scenario: thresholds as the rest of the product reads them."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.plan.document import ContractPart
from vramledger.plan.percentiles import share_of
from vramledger.plan.problems import dotted
from vramledger.plan.requirement import Contract, Kind, LatencyLimit
from vramledger.units import plain
from vramledger.yaml_text import KeyPath, YamlText

LATENCIES: Final = ("ttft_s", "first_answer_s", "itl_s", "tpot_s", "queue_s", "e2e_s")
_INPUT_MAX: Final = "input_max"


def contract(part: ContractPart, kind: Kind, path: KeyPath, text: YamlText) -> Contract:
    """The thresholds of one scenario.

    Raises:
        BadInput: a limit names no percentile, percentiles do not rise, a length is given twice,
            or the scenario's kind has no use for a threshold.
    """
    if part.done_by is not None and kind is Kind.LATENCY:
        raise BadInput(
            f"{text.place((*path, 'done_by'))}: done_by has no meaning for a scenario of kind "
            "latency; give queue_s or e2e_s, or make it one of kind throughput."
        )
    latency = {
        key: _limits(getattr(part, key), (*path, key), text)
        for key in LATENCIES
        if getattr(part, key) is not None
    }
    return Contract(
        latency=latency,
        success=part.success,
        queue_must_drain=part.queue_must_drain,
        done_by=part.done_by,
        requests_per_hour=part.requests_per_hour,
        minutes_of_load=part.minutes_of_load,
    )


def _limits(
    value: dict[str, float] | list[dict[str, float]], path: KeyPath, text: YamlText
) -> tuple[LatencyLimit, ...]:
    rows = value if isinstance(value, list) else [value]
    limits = tuple(_limit(row, path, text) for row in rows)
    reaches = [limit.input_max for limit in limits]
    if not limits or len(set(reaches)) < len(reaches):
        raise BadInput(
            f"{text.place(path)}: {dotted(path)} needs one row for each input_max, and at least "
            "one row."
        )
    return tuple(sorted(limits, key=lambda limit: (limit.input_max is None, limit.input_max or 0)))


def _limit(row: dict[str, float], path: KeyPath, text: YamlText) -> LatencyLimit:
    where = f"{text.place(path)}: {dotted(path)}"
    percentiles = {share_of(key): value for key, value in row.items() if key != _INPUT_MAX}
    if not percentiles:
        raise BadInput(f"{where} names no percentile; write for example p95: 2.0.")
    ordered = [percentiles[share] for share in sorted(percentiles)]
    if ordered != sorted(ordered):
        raise BadInput(f"{where}: a higher percentile has a smaller limit; they rise.")
    reach = row.get(_INPUT_MAX)
    if reach is not None and (reach < 1 or reach != int(reach)):
        raise BadInput(f"{where}: input_max is {plain(reach)}; it counts whole tokens from 1.")
    return LatencyLimit(None if reach is None else int(reach), percentiles)

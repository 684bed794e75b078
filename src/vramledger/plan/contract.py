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
CLASSES: Final = ("input_min", "input_max", "output_min", "output_max")


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
        kv_free=part.kv_free,
        preemptions_per_1000=part.preemptions_per_1000,
        memory_growth_gib_per_hour=part.memory_growth_gib_per_hour,
        model_reported=part.model_reported,
        context_tokens=part.context_tokens,
        requests_per_minute=part.requests_per_minute,
        billed_within=part.billed_within,
    )


def _limits(
    value: dict[str, float] | list[dict[str, float]], path: KeyPath, text: YamlText
) -> tuple[LatencyLimit, ...]:
    rows = value if isinstance(value, list) else [value]
    limits = tuple(_limit(row, path, text) for row in rows)
    classes = [limit.bounds for limit in limits]
    if not limits or len(set(classes)) < len(classes):
        raise BadInput(
            f"{text.place(path)}: {dotted(path)} needs one row for each input_max (or other class of length), and at "
            "least one row."
        )
    return tuple(sorted(limits, key=in_order))


def in_order(limit: LatencyLimit) -> tuple[tuple[bool, int], ...]:
    """Rows of one latency stand by their longest input, then by their other ends; what is for all comes last."""
    ends = (limit.input_max, limit.input_min, limit.output_max, limit.output_min)
    return tuple((end is None, end or 0) for end in ends)


def _limit(row: dict[str, float], path: KeyPath, text: YamlText) -> LatencyLimit:
    where = f"{text.place(path)}: {dotted(path)}"
    percentiles = {share_of(key): value for key, value in row.items() if key not in CLASSES}
    if not percentiles:
        raise BadInput(f"{where} names no percentile; write for example p95: 2.0.")
    ordered = [percentiles[share] for share in sorted(percentiles)]
    if ordered != sorted(ordered):
        raise BadInput(f"{where}: a higher percentile has a smaller limit; they rise.")
    ends: dict[str, int] = {key: _tokens(key, row[key], where) for key in CLASSES if key in row}
    for what in ("input", "output"):
        least, most = ends.get(f"{what}_min"), ends.get(f"{what}_max")
        if least is not None and most is not None and least > most:
            raise BadInput(
                f"{where}: {what}_min is {least:,} and {what}_max {most:,}; no request is in such a class."
            )
    return LatencyLimit(
        ends.get("input_max"),
        percentiles,
        input_min=ends.get("input_min"),
        output_max=ends.get("output_max"),
        output_min=ends.get("output_min"),
    )


def _tokens(key: str, value: float, where: str) -> int:
    if value < 1 or value != int(value):
        raise BadInput(f"{where}: {key} is {plain(value)}; it counts whole tokens from 1.")
    return int(value)

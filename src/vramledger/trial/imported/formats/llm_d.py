"""The benchmark report of llm-d, schema 0.2: distributions of a whole run, and no single request.

https://github.com/llm-d/llm-d-benchmark: `analysis/benchmark_report/schema_v0_2.py`. What becomes a run of it has its counts and
headline figures, which nothing here can be worked out anew from.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.fields import Fields
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Benchmark, Told

TITLE: Final = "the llm-d benchmark report"
LOOKED_FOR: Final = "version, run, scenario, results.request_performance"
_VERSION: Final = "0.2"
_STATISTICS: Final = {name: name for name in ("mean", "p50", "p90", "p95", "p99")}
_UNITS: Final = {"s": 1.0, "ms": 1e-3, "s/token": 1.0, "ms/token": 1e-3}
_FIGURES: Final = {
    "time_to_first_token": "TTFT",
    "time_per_output_token": "TPOT",
    "inter_token_latency": "ITL",
    "request_latency": "E2E",
}
_MISSING: Final = {
    "every column": "the report has distributions of a whole run, and no single request"
}
DEFINITIONS: Final = {
    "TTFT": "as the tool that made the figures counts it; the report does not say how",
    "ITL": "as the tool that made the figures counts it",
    "TPOT": "as the tool that made the figures counts it",
    "E2E": "as the tool that made the figures counts it",
}  # fmt: skip


def looks(source: Source) -> bool:
    """Whether it is one."""
    found = source.document
    return isinstance(found, dict) and {"version", "scenario"} <= found.keys() and (
        "results" in found or "metrics" in found
    )  # fmt: skip


def read(sources: tuple[Source, ...]) -> Iterator[Benchmark]:
    """One a report."""
    for source in sources:
        top = Fields(source.document, str(source.path))
        version = str(top.mapping().get("version"))
        if version != _VERSION:
            raise BadInput(
                f"{source.path} is a benchmark report of schema {version}, and schema {_VERSION} is read here; convert it with "
                "llm-d's own tool."
            )
        told = _told(top)
        yield Benchmark(TITLE, 0.0, records=lambda: iter(()), told=partial(_given, told))


def _given(told: Told, _found: Counted, _begun_s: float) -> Told:
    """Nothing is worked out anew where there is no request."""
    return told


def _told(top: Fields) -> Told:
    aggregate = top.part("results").part("request_performance").part("aggregate")
    requests = aggregate.part("requests")
    total = requests.tokens("total")
    if total is None:
        raise BadInput(f"{top.where} does not count its requests; use an unchanged copy.")
    bad = (requests.tokens("failures") or 0) + (requests.tokens("incomplete") or 0)
    load = top.part("scenario").part("load").part("standardized")
    words = top.part("run").rows("keywords")
    origin = next((each for each in words if each in ("rehearsed", "measured", "simulated")), None)
    return Told(
        tool=f"{TITLE} ({load.text('tool') or 'unknown tool'})",
        version=load.text("tool_version"),
        claims=tuple(_claims(aggregate)),
        missing=_MISSING,
        definitions=DEFINITIONS,
        closed=load.tokens("concurrency"),
        unrecorded=total,
        claimed_origin=origin,
        notes=(
            f"The report counts {total:,} requests, {bad:,} of them failed or incomplete; none of them is in the run's table.",
        ),
    )


def _claims(aggregate: Fields) -> Iterator[Claim]:
    latency = aggregate.part("latency")
    for key, title in _FIGURES.items():
        told: dict[str, Any] = dict(latency.part(key).mapping())
        factor = _UNITS.get(str(told.get("units")))
        if factor is not None:
            yield from claims(told, Names(title, "s", factor, _STATISTICS), None)
    rates = aggregate.part("throughput")
    for key, title, unit in (
        ("request_rate", "throughput requests", "1/s"),
        ("output_token_rate", "throughput output tokens", "tokens/s"),
    ):
        yield from claims(rates.part(key).mapping(), Names(title, unit, 1.0, {"mean": "mean"}), None)  # fmt: skip

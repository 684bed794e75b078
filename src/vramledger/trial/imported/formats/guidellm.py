"""GuideLLM's ``benchmarks.json``, report schema 2 (version 0.7 on): one run a benchmark in it.

https://github.com/vllm-project/guidellm: `schemas/base/request_stats.py` (formulas), `schemas/base/info.py` (moments),
`benchmark/schemas/metrics.py` (what counts by tokens). Moments are of the wall clock, so that a step of it is in the latencies.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import Detail, detail, weighted_detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted, counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Told

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

TITLE: Final = "GuideLLM"
LOOKED_FOR: Final = "metadata.guidellm_version, benchmarks"
_VERSION: Final = 2
_GROUPS: Final = ("successful", "errored", "incomplete")
_SCHEDULED: Final = frozenset({"trace", "constant", "poisson", "async", "replay"})
_MISSING: Final = {
    "headers_s": "the file has no such moment",
    "first_role_s": "the file has no such moment",
    "chunk_offset_us": "the file has no times between the first and the last token, so there is no ITL",
    "chunk_tokens": "the file has no times between the first and the last token",
    "http_status": "told only where the words of a failure hold it",
}
_NO_SCHEDULE: Final = (
    "stands for when it was sent: requests followed each other and had no time of their own"
)
DEFINITIONS: Final = {
    "TTFT": "from when a worker begins the request, by the wall clock, to the first message that counts a token",
    "ITL": "from the first to the last token, over the tokens less one: a mean a request, weighted by those tokens",
    "TPOT": "from the beginning to the last token, over all tokens: TTFT is in it; weighted by tokens",
    "E2E": "from the beginning to the end of the response",
    "throughput": "told over time (not worked out again here)",
    "percentile": "the least value that the share does not exceed; successes alone",
}


def looks(source: Source) -> bool:
    """Whether it is one."""
    found = source.document
    return (
        isinstance(found, dict)
        and isinstance(found.get("benchmarks"), list)
        and isinstance(found.get("metadata"), dict)
        and "guidellm_version" in found["metadata"]
    )


def read(sources: tuple[Source, ...]) -> Iterator[Told]:
    """One a benchmark of every file."""
    for source in sources:
        top = Fields(source.document, str(source.path))
        head = top.part("metadata")
        version = head.tokens("version")
        if version != _VERSION:
            raise BadInput(
                f"{source.path} is a GuideLLM report of schema {version}, and schema {_VERSION} is read here; write it anew with "
                "GuideLLM 0.7 or later."
            )
        benchmarks = top.rows("benchmarks")
        if not benchmarks:
            raise BadInput(f"{source.path} has no benchmark in it; run GuideLLM again.")
        labels = top.part("config").part("metadata").part("labels")
        for number, each in enumerate(benchmarks):
            found = Fields(each, f"{source.path}, benchmarks[{number}]")
            yield _told(found, head.text("guidellm_version"), labels.text("origin"))


def _told(found: Fields, version: str | None, origin: str | None) -> Told:
    strategy = found.part("config").part("strategy")
    scheduled = (strategy.text("type_") or "") in _SCHEDULED
    rows = [
        (group, Fields(each, f"{found.where}, requests.{group}[{place}]"))
        for group in _GROUPS
        for place, each in enumerate(found.part("requests").rows(group))
    ]
    if not rows:
        raise BadInput(f"{found.where} has no request in it; let GuideLLM keep its requests.")
    begun = [_moments(each, scheduled=scheduled) for _, each in rows]
    zero = min(begun)
    records = tuple(
        _record(place, group, each, zero, scheduled=scheduled)
        for place, (group, each) in enumerate(rows)
    )
    totals = found.part("metrics").part("request_totals")
    all_told = totals.tokens("total")
    due = {} if scheduled else {"due_s": _NO_SCHEDULE}
    return Told(
        tool=TITLE,
        version=version,
        records=records,
        claims=tuple(_claims(found.part("metrics"), counted(records))),
        missing=_MISSING | due,
        definitions=DEFINITIONS,
        model=found.part("config").part("backend").text("model"),
        endpoint=found.part("config").part("backend").text("request_format"),
        closed=strategy.tokens("streams"),
        zero_s=zero,
        ended_s=max(found.seconds("end_time") or zero, zero),
        unrecorded=max((all_told or 0) - len(records), 0),
        claimed_origin=origin,
    )


def _timings(row: Fields) -> Fields:
    return row.part("info").part("timings")


def _sent(row: Fields) -> float | None:
    times = _timings(row)
    begun = times.seconds("request_start")
    return times.seconds("resolve_start") if begun is None else begun


def _moments(row: Fields, *, scheduled: bool) -> float:
    """The first moment of a request."""
    sent, due = _sent(row), _timings(row).seconds("targeted_start")
    told = [each for each in (sent, due if scheduled or sent is None else None) if each is not None]
    if not told:
        raise BadInput(f"{row.where} has no moment at which it began; use an unchanged copy of the file.")  # fmt: skip
    return min(told)


def _record(place: int, group: str, row: Fields, zero: float, *, scheduled: bool) -> RequestRecord:
    times = _timings(row)

    def moment(name: str) -> float | None:
        value = times.seconds(name)
        return None if value is None else value - zero

    sent = _sent(row)
    done = moment("request_end")
    known: dict[str, Any] = {
        "request_id": place,
        "row": place,
        "due_s": _moments(row, scheduled=scheduled) - zero,
        "dispatched_s": None if sent is None else sent - zero,
        "first_byte_s": moment("first_request_iteration"),
        "first_content_s": moment("first_token_iteration"),
        "first_answer_s": moment("first_output_token_iteration"),
        "last_content_s": moment("last_token_iteration"),
        "done_s": moment("resolve_end") if done is None else done,
        "server_request_id": row.text("response_id"),
        "input_tokens_got": _tokens(row, "input_metrics"),
        "cached_tokens": row.part("input_metrics").tokens("cached_tokens"),
    }
    return RequestRecord(**known, **_ending(group, row))


def _ending(group: str, row: Fields) -> dict[str, Any]:
    tokens = _tokens(row, "output_metrics")
    if tokens is None:
        tokens = _timings(row).tokens("token_iterations") or None
        basis = "chunks"
    else:
        basis = "usage"
    known = {"output_tokens_got": tokens, "tokens_basis": None if tokens is None else basis}
    if group == "successful":
        return {**known, "outcome": Outcome.OK}
    if group == "incomplete":
        return {**known, "outcome": Outcome.INCOMPLETE, "error_class": "run_ended"}
    found = failed(row.part("info").text("error") or "")
    return {
        **known,
        "outcome": found.outcome,
        "error_class": found.error_class,
        "http_status": found.status,
    }


def _tokens(row: Fields, side: str) -> int | None:
    metrics = row.part(side)
    whole = metrics.tokens("total_tokens")
    return metrics.tokens("text_tokens") if whole is None else whole


def _claims(metrics: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    tokens = found.tokens
    many = np.where(np.isnan(tokens), 0.0, tokens)
    figures: tuple[tuple[str, str, float, Detail | None], ...] = (
        ("time_to_first_token_ms", "TTFT", 1e-3, detail(found.first_s)),
        ("inter_token_latency_ms", "ITL (mean of a request)", 1e-3,
         weighted_detail(found.per_gap(found.first_s), np.maximum(many - 1, 0))),
        ("time_per_output_token_ms", "TPOT (with TTFT)", 1e-3,
         weighted_detail(found.last_s / np.where(many >= 1, many, np.nan), many)),
        ("request_latency", "E2E", 1.0, detail(found.end_s)),
    )  # fmt: skip
    for key, title, factor, ours in figures:
        told = metrics.part(key).part("successful")
        if not told.tokens("count"):
            continue
        yield from claims(told.mapping(), Names(title, "s", factor, {"mean": "mean"}), ours)
        shares = {name: name for name in ("p50", "p90", "p95", "p99")}
        yield from claims(told.part("percentiles").mapping(), Names(title, "s", factor, shares), ours)  # fmt: skip
    totals = metrics.part("request_totals")
    successes = totals.tokens("successful")
    if successes is not None:
        yield Claim("successes", "requests", float(successes), float(len(tokens)))

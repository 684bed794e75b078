"""``vllm bench serve --save-result --save-detailed``: one JSON object with a list a figure.

https://github.com/vllm-project/vllm: `vllm/benchmarks/serve.py` and `benchmarks/lib/endpoint_request_func.py` (0.32).
`ttfts` end with the first message that has `choices`, which on the chat API is the one with the role; `itls` are the
times between messages, so the first of them may be the one from the role to the first token. A failed request has zeros in
all lists.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.record.gap_counts import GapCounts
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields, count_of, time_of
from vramledger.trial.imported.gap_figures import detail_of_gaps, with_more
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Benchmark, Told

TITLE: Final = "vllm bench serve"
LOOKED_FOR: Final = "duration, completed, ttfts, itls"
_LISTS: Final = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_STATISTICS: Final = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
_MS: Final = 1e-3
_MISSING: Final = {
    "headers_s": "the file has no such moment",
    "first_byte_s": "the file has no such moment",
    "first_answer_s": "the file does not tell thinking from the answer",
    "done_s": "stands for the last token: the file has no end of the response",
    "chunk_tokens": "the file has times of messages, not what they held",
    "input_tokens_got": "as the client's tokenizer counted the prompt, not the server",
    "server_request_id": "the file does not name requests",
    "cached_tokens": "the file does not tell",
}
DEFINITIONS: Final = {
    "TTFT": "from before the request is sent to the first message with choices, on the chat API the one with the role",
    "ITL": "every time between two messages, all requests together, the one after the role included",
    "TPOT": "from that first message to the last token, over the tokens less one, a mean a request",
    "E2E": "from before the request is sent to the last token",
    "throughput": "successes, and their tokens, over the whole duration",
    "percentile": "between two values (linear); successes alone",
}


def looks(source: Source) -> bool:
    """Whether it is one."""
    found = source.document
    return isinstance(found, dict) and {"completed", "duration"} <= found.keys() and (
        "ttfts" in found or "mean_ttft_ms" in found
    )  # fmt: skip


def read(sources: tuple[Source, ...]) -> Iterator[Benchmark]:
    """One benchmark a file, or one a line of a file that benchmarks were appended to."""
    for source in sources:
        for each in source.documents():
            yield _benchmark(each)


def _benchmark(source: Source) -> Benchmark:
    top = Fields(source.document, str(source.path))
    if not top.has("ttfts") or not top.has("itls") or not top.has("start_times"):
        raise BadInput(
            f"{source.path} is of vllm bench serve but has no times of single requests; run it again with --save-result "
            "--save-detailed."
        )
    _check_lists(source, top)
    base = time_of(top.rows("start_times")[0], 1.0, f"{top.where}, start_times[0]")
    return Benchmark(
        TITLE, base, records=partial(_records, source, top, base), told=partial(_told, top)
    )


def _check_lists(source: Source, top: Fields) -> None:
    """Refuse lists that are none, or of different lengths."""
    for name in (*_LISTS, "start_times"):
        top.rows(name)
    count = source.length("ttfts")
    for name in (*_LISTS, "start_times"):
        if source.length(name) != count:
            raise BadInput(
                f"{top.where} has {source.length(name):,} values in {name} and {count:,} in ttfts, so it is cut or put together; "
                "use an unchanged copy."
            )
    if not count:
        raise BadInput(f"{top.where} has no request in it; run the benchmark again.")


def _told(top: Fields, found: Counted, _begun_s: float) -> Told:
    return Told(
        tool=TITLE,
        claims=tuple(_claims(top, found)),
        missing=_MISSING | _of_due(paced=_paced(top)),
        definitions=DEFINITIONS,
        model=top.text("model_id"),
        endpoint=top.text("endpoint_type") or top.text("backend"),
        closed=None if _paced(top) else top.tokens("max_concurrency"),
        notes=tuple(_notes(found, chat=_is_chat(top))),
    )


def _paced(top: Fields) -> bool:
    """Whether it sent by a clock."""
    rate = top.mapping().get("request_rate")
    return isinstance(rate, int | float) and not isinstance(rate, bool)


def _of_due(*, paced: bool) -> dict[str, str]:
    told = (
        "the client's own wait before sending, as the file tells it, is counted in; how late its schedule ran is not told"
        if paced
        else "stands for when it was sent: requests followed each other and had no time of their own"
    )
    return {"due_s": told}


def _is_chat(top: Fields) -> bool:
    return "chat" in (top.text("endpoint_type") or top.text("backend") or "")


def _records(source: Source, top: Fields, base: float) -> Iterator[RequestRecord]:
    waits = source.values("queue_times.item") if _paced(top) else iter(())
    lists = (source.values(f"{name}.item") for name in _LISTS)
    starts = source.values("start_times.item")
    for place, (start, *row) in enumerate(zip(starts, *lists, strict=True)):
        sent = time_of(start, 1.0, f"{top.where}, start_times[{place}]") - base
        waited = time_of(next(waits, 0.0), 1.0, f"{top.where}, queue_times[{place}]")
        yield _record(place, dict(zip(_LISTS, row, strict=True)), (sent - waited, sent), top)


def _record(
    place: int, row: dict[str, Any], moments: tuple[float, float], top: Fields
) -> RequestRecord:
    where = f"{top.where}, request {place}"
    due, sent = moments
    prompt = count_of(row["input_lens"], f"{where}, input_lens")
    known: dict[str, Any] = {
        "request_id": place,
        "row": place,
        "due_s": due,
        "dispatched_s": sent,
        "input_tokens_got": prompt,
    }
    error = row["errors"]
    if error or not row["output_lens"]:
        return RequestRecord(**known, **_failure(str(error or "")), **_partly(row, sent, where))
    gaps = _gaps(row, where)
    tokens = count_of(row["output_lens"], f"{where}, output_lens")
    told_s = sent + time_of(row["ttfts"], 1.0, f"{where}, ttfts")
    role = _is_chat(top) and len(gaps) >= tokens
    first = told_s + gaps[0] if role else told_s
    offsets = [0]
    seconds = 0.0
    for gap in gaps[1:] if role else gaps:
        seconds += gap
        offsets.append(round(seconds * 1e6))
    last = first + seconds
    return RequestRecord(
        **known,
        first_role_s=told_s if role else None,
        first_content_s=first,
        last_content_s=last,
        done_s=last,
        chunk_offset_us=offsets,
        output_tokens_got=tokens,
        tokens_basis="usage",
        outcome=Outcome.OK,
    )


def _gaps(row: dict[str, Any], where: str) -> list[float]:
    gaps = row["itls"]
    if not isinstance(gaps, list):
        raise BadInput(f"{where}, itls is no list; use an unchanged copy of the file.")
    found = [time_of(each, 1.0, f"{where}, itls") for each in gaps]
    if any(each < 0 for each in found):
        raise BadInput(f"{where}, itls has a time below 0; use an unchanged copy of the file.")
    return found


def _failure(error: str) -> dict[str, Any]:
    found = failed(error)
    return {"outcome": found.outcome, "error_class": found.error_class, "http_status": found.status}


def _partly(row: dict[str, Any], sent: float, where: str) -> dict[str, Any]:
    """A failed request whose stream had begun has its first message; when it ended is not told."""
    first = time_of(row["ttfts"], 1.0, f"{where}, ttfts")
    return {"first_role_s": sent + first} if first > 0 else {}


def _claims(top: Fields, found: Counted) -> Iterator[Claim]:
    figures = {
        "ttft": ("TTFT", detail(found.message_s, "linear")),
        "tpot": ("TPOT", detail(found.per_gap(found.message_s), "linear")),
        "itl": ("ITL", detail_of_gaps(_with_roles(found))),
        "e2el": ("E2E", detail(found.last_s, "linear")),
    }
    for key, (title, ours) in figures.items():
        keys = {"mean": f"mean_{key}_ms", "p50": f"median_{key}_ms"}
        keys |= {name: f"p{share}_{key}_ms" for name, share in _STATISTICS.items() if share != 50}
        yield from claims(top.mapping(), Names(title, "s", _MS, keys), ours)
    yield from _rates(top, found)


def _rates(top: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    seconds, tokens = top.seconds("duration"), float(np.nansum(found.tokens))
    for name, unit, key, total in (
        ("requests", "1/s", "request_throughput", float(found.successes)),
        ("output tokens", "tokens/s", "output_throughput", tokens),
        ("all tokens", "tokens/s", "total_token_throughput", tokens + float(np.nansum(found.inputs))),
    ):  # fmt: skip
        told = top.seconds(key)
        if told is not None and seconds:
            yield Claim(f"throughput {name}", unit, told, total / seconds)
    for name, unit, key, count in (
        ("successes", "requests", "completed", float(found.successes)),
        ("input tokens", "tokens", "total_input_tokens", float(np.nansum(found.inputs))),
        ("output tokens", "tokens", "total_output_tokens", tokens),
    ):
        told_count = top.tokens(key)
        if told_count is not None:
            yield Claim(name, unit, float(told_count), count)


def _with_roles(found: Counted) -> GapCounts:
    """Times between messages: ours between tokens, and those from the role to the first token."""
    import numpy as np

    roles = found.first_s - found.message_s
    waits = np.rint(roles[found.had_role] * 1e6).astype(np.int64)
    return with_more(found.gaps, waits, np.ones(len(waits), np.int64))


def _notes(found: Counted, *, chat: bool) -> Iterator[str]:
    if found.roles:
        yield (
            f"The first message of {found.roles:,} of {found.successes:,} answers held the role alone, as there are more messages than tokens; "
            "its time is first_role_s, and TTFT here is to the message after it."
        )
    if chat and found.roles < found.successes:
        yield (
            f"Of {found.successes - found.roles:,} answers on the chat API it cannot be told whether their first message held a token; where it held the "
            "role alone, the true TTFT is longer than the one here."
        )

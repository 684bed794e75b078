"""A trial for a terminal."""

from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.printable import flat
from vramledger.record.document import Origin
from vramledger.report.number import duration, rate, share
from vramledger.report.table import table
from vramledger.report.trial_events import event_sentences
from vramledger.report.trial_load import ended_words, load_words
from vramledger.trial.conduct.history import Pause
from vramledger.trial.conduct.spread import Spread
from vramledger.trial.conduct.steady import METHOD
from vramledger.trial.conduct.steady_figures import SteadyPart
from vramledger.trial.conduct.summary import Summary
from vramledger.trial.conduct.ttft_stages import TtftStages
from vramledger.units import format_gib, format_seconds, gib

_HEAD: Final = ("", "mean", "p50", "p95", "p99", "max")
_RIGHT: Final = frozenset(range(1, 6))
_TITLES: Final = {
    "ttft_s": "TTFT",
    "first_answer_s": "first answer",
    "tpot_s": "TPOT",
    "e2e_s": "E2E",
}
_ORIGINS: Final = {
    Origin.MEASURED: "MEASURED",
    Origin.REHEARSED: "REHEARSED on a simulated server, not measured",
    Origin.SIMULATED: "SIMULATED, not measured",
}


def trial_text(found: Summary, contract: Iterable[str] = ()) -> str:
    """What was sent where, what became of it, how the server was, and what weakens the figures.

    `contract` are the lines on what was promised; they stand first.
    """
    promised = tuple(contract)
    blocks = [
        *_heading(found),
        *(("", *promised) if promised else ()),
        "",
        *_requests(found),
        "",
        "all offered, from due; a failure counts as infinite (ITL: of requests that ended as asked)",
        *table(_HEAD, list(_latency_rows(found)), _RIGHT),
        *_successes(found),
        "",
        *_steady(found.steady),
        "",
        *_stages(found.stages),
        *_server(found),
        *_client(found),
        *_words(found),
        f"run         {found.run.path}",
    ]
    return "\n".join(map(flat, blocks))  # names of models and versions are the server's own


def _heading(found: Summary) -> Iterator[str]:
    about = found.description
    seen = about.in_effect
    engine = " ".join(part for part in (seen.engine, seen.engine_version) if part)
    yield f"{_ORIGINS[about.origin]}: {about.name}"
    yield f"{found.trial['server']}, {engine or 'engine unknown'}"
    yield f"load        {load_words(found)}"
    yield f"ended       {ended_words(found)}"
    for why in found.inconclusive:
        yield f"INCONCLUSIVE: {why}"


def _requests(found: Summary) -> Iterator[str]:
    others = [f"{count:,} {name}" for name, count in found.requests.items() if count]
    yield f"requests    {found.offered:,} offered: {', '.join(others) or 'none'}"
    rates = found.rates
    if rates.seconds is not None and rates.output_tokens_per_s is not None:
        yield (
            f"throughput  {rates.output_tokens_per_s:,.0f} output tokens/s, "
            f"{rate(rates.requests_per_s or 0.0)} ended as asked, over {duration(rates.seconds)}"
        )
    for each in found.errors:
        yield f"{each.name:<11} {each.count:,} x {each.sentence}"


def _latency_rows(found: Summary) -> Iterator[tuple[str, ...]]:
    said = found.latencies
    for name, title in _TITLES.items():
        if name != "first_answer_s" or said.offered[name] != said.offered["ttft_s"]:
            yield _row(title, said.offered[name])
    yield _row("ITL, gaps", said.itl_s)
    yield _row("ITL, means", said.itl_mean_s)


def _successes(found: Summary) -> Iterator[str]:
    """Successes alone where something failed, and the way other tools count."""
    said = found.latencies
    rows = []
    if found.requests["ok"] != found.offered:
        rows += [_row(f"{_TITLES[name]}, ok", said.ok[name]) for name in ("ttft_s", "tpot_s", "e2e_s")]  # fmt: skip
    rows += [
        _row(f"{_TITLES[name]}, ok, sent", said.ok_from_dispatch[name])
        for name in ("ttft_s", "e2e_s")
    ]
    rows.append(_row("sent late", said.late_dispatch_s))
    yield ""
    yield "successes alone, and since they were sent"
    yield from table(_HEAD, rows, _RIGHT)


def _steady(found: SteadyPart) -> Iterator[str]:
    """The steady part beside the whole, or why there is none."""
    part, said = found.part, found.latencies
    if part.from_s is None or part.to_s is None or said is None:
        yield f"steady part none found: {part.why}"
        return
    yield (
        f"steady part {part.from_s:,.1f} s to {part.to_s:,.1f} s of the run, {found.offered:,} requests due in it, "
        f"{found.ok:,} ok; {METHOD}"
    )
    yield (
        f"            {found.output_tokens_per_s:,.0f} output tokens/s, {rate(found.requests_per_s or 0.0)} ended as asked"
    )
    rows = [_row(f"{_TITLES[name]}, steady", said.offered[name]) for name in ("ttft_s", "tpot_s", "e2e_s")]  # fmt: skip
    yield from table(_HEAD, [*rows, _row("ITL, gaps, steady", said.itl_s)], _RIGHT)


def _stages(found: TtftStages | None) -> Iterator[str]:
    if found is None:
        return
    yield (
        f"TTFT in stages, since they were sent, of {found.requests:,} of {found.of:,} requests that ended as asked; the way to the "
        "server and the rest depend on how far the clocks are apart (clock in run.json)"
    )
    rows = [_row(name.replace("_", " "), each) for name, each in found.parts.items()]
    yield from table(_HEAD, rows, _RIGHT)
    yield ""


def _server(found: Summary) -> Iterator[str]:
    side = found.server
    usage = side.levels["kv_usage"]
    if usage.p50 is not None:
        yield f"KV use      {_shares(usage)}{_kv_tokens(side.kv_tokens, side.kv_capacity_tokens)}"
    for name in ("running", "waiting"):
        level = side.levels[name]
        if level.p50 is not None:
            yield f"{name:<11} p50 {level.p50:,.0f}, p95 {level.p95:,.0f}, p99 {level.p99:,.0f}, max {level.max:,.0f}"
    if side.preemptions is not None:
        yield f"preemptions {side.preemptions:,.0f}"
    if side.prefix_hit_share is not None:
        yield f"prefix hits {share(side.prefix_hit_share)} of the prompt tokens looked up"
    for name, used in side.memory_bytes.items():
        yield f"GPU memory  {name}: {_memory(used)}"


def _client(found: Summary) -> Iterator[str]:
    if not found.healths:
        return
    worst = max(found.healths, key=lambda each: each.late_dispatch_s.p99 or 0.0)
    late, lag = worst.late_dispatch_s.p99, worst.loop_lag_s.p99
    busiest = max(each.cpu_share for each in found.healths)
    yield (
        f"client      {len(found.healths)} worker{'s' if len(found.healths) > 1 else ''}; of the worst, sent late p99 "
        f"{_seconds(late)} (waits for the server to accept left out), loop lag p99 {_seconds(lag)}, processor {share(busiest)}"
    )


def _words(found: Summary) -> Iterator[str]:
    yield f"lengths     {found.lengths.sentence()}"
    warm = found.story.warm_up
    if warm is None:
        yield "warm-up     none: a cold pass"
    else:
        stable = "stable" if warm["stable"] else "not stable yet"
        yield f"warm-up     {warm['requests']} requests, {stable}"
    yield from (f"note: {_paused(each)}" for each in found.story.pauses)
    yield from (f"note: {each}" for each in event_sentences(found.story.events))
    yield from (f"no verdict: {each.why}" for each in found.unjudgeable)
    yield from (f"note: {each}" for each in found.warnings)
    names = [each for each in found.unseen if not each.endswith(".")]
    if names:
        yield f"unseen      {'; '.join(names)}"
    yield from (f"unseen      {each}" for each in found.unseen if each.endswith("."))


def _paused(found: Pause) -> str:
    return (
        f"the recorder was away at {found.from_s:,.1f} s of the run, and the rest of the load was sent "
        f"{format_seconds(found.seconds)} later, to a server that had had time to empty its queue; a wait that builds up "
        "over longer than either part is not in these figures."
    )


def _row(title: str, found: Spread) -> tuple[str, ...]:
    return (title, *(_seconds(getattr(found, name)) for name in _HEAD[1:]))


def _seconds(value: float | None) -> str:
    return "-" if value is None else format_seconds(value)


def _shares(found: Spread) -> str:
    told = ((name, getattr(found, name)) for name in ("p50", "p95", "p99", "max"))
    return ", ".join(f"{name} {share(value)}" for name, value in told if value is not None)


def _kv_tokens(found: Spread, capacity: int | None) -> str:
    if capacity is None or found.max is None:
        return ""
    return f"; max {found.max:,.0f} of {capacity:,} tokens"


def _memory(found: Spread) -> str:
    told = ((name, getattr(found, name)) for name in ("p50", "p95", "p99", "max"))
    return ", ".join(
        f"{name} {format_gib(gib(value))}" for name, value in told if value is not None
    )

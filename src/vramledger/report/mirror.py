"""A mirror for a terminal: what it says while it runs, and what it came to."""

from collections.abc import Iterator
from typing import Final

from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.latency import PERCENTS, Latency
from vramledger.methods.mirror.result import Mirrored
from vramledger.methods.mirror.serve import Moment
from vramledger.methods.mirror.switch import Need, Switch
from vramledger.report.estimate import banded, percent
from vramledger.report.number import duration, rate, share
from vramledger.report.shadow import (
    HEAD,
    asked_line,
    notes,
    rows,
    side_line,
    signed,
)
from vramledger.report.table import table
from vramledger.units import format_seconds

_TIMES: Final = {
    "ttft_s": "first event with text",
    "e2e_s": "whole answer",
    "gap_s": "between events",
}
_SKIPPED: Final = {
    "busy": "B had as many under way as --concurrency allows",
    "too_large": "the body was larger than 2 MiB",
    "not_json": "the body was no JSON object",
    "other_model": "another model was asked for",
}


def listening_line(address: str, asked: MirrorAsked) -> str:
    """Where clients may come."""
    ends = "until Ctrl-C" if asked.for_s is None else f"for {duration(asked.for_s)}"
    return f"Listening on {address} {ends}: everything goes to {asked.a.url}, {asked.share:.1%} of the requests to {asked.b.url} too."


def live_line(found: Moment) -> str:
    """Time, requests, what was put to both, and what came of it."""
    parts = [
        duration(found.t_s),
        *(() if found.to_go_s is None else (f"{duration(found.to_go_s)} to go",)),
        f"{found.requests:,} requests",
        f"{found.clients:,} connections",
        f"{found.put:,} put to B",
        f"{found.under_way:,} under way",
        f"{found.compared:,} compared",
        f"{found.failed_a:,} failed on A, {found.failed_b:,} on B",
    ]
    if found.skipped:
        parts.append(f"{found.skipped:,} left out")
    return "  ".join(parts)


def ending_line(busy: int, grace_s: float) -> str | None:
    """Said when no more is taken; None where nobody waits."""
    if not busy:
        return None
    clients = "1 client waits" if busy == 1 else f"{busy:,} clients wait"
    return f"No more is taken; {clients} for answers, for {duration(grace_s)} at most. Ctrl-C again cuts them."


def mirror_text(found: Mirrored) -> str:
    """The verdict, what passed, the figures of both sides, what a switch needs, and what else is to be said."""
    shadow = found.shadow
    lines = [
        f"{shadow.verdict.verdict}: {shadow.verdict.reason}",
        f"A  {side_line(shadow.a)}",
        f"B  {side_line(shadow.b)}",
        _passed(found),
        asked_line(shadow),
        "",
        *table(HEAD, rows(shadow), frozenset({1, 2})),
        "",
        *table(
            ("every temperature", "A", "B", "B against A"),
            list(_sides(found)),
            frozenset({1, 2, 3}),
        ),
        "",
        *_switch(found.switch),
        "",
        *(f"note: {each}" for each in (*notes(shadow), *_notes(found))),
    ]
    return "\n".join(lines)


def _passed(found: Mirrored) -> str:
    traffic = found.traffic
    per_s = traffic.requests / found.seconds if found.seconds else 0.0
    return (
        f"{traffic.requests:,} requests in {duration(found.seconds)} ({rate(per_s)}), {traffic.comparable:,} of them chats or completions; "
        f"{found.put:,} put to both, {found.compared:,} answered by both"
    )


def _sides(found: Mirrored) -> Iterator[tuple[str, str, str, str]]:
    """Figures of all that were put to both."""
    outcomes = found.outcomes
    a = outcomes["failed_ok"] + outcomes["failed_failed"]
    b = outcomes["ok_failed"] + outcomes["failed_failed"]
    yield (
        "requests failed",
        f"{a:,}",
        f"{b:,}",
        f"{banded(found.failed_by_b, percent)} of A's answers",
    )
    yield "same end (finish reason)", "", "", banded(found.finish_same, percent)
    lengths = found.lengths
    means = ["" if each is None else f"{each:.1f}" for each in (lengths.a, lengths.b)]
    yield f"{lengths.unit} an answer, mean", means[0], means[1], banded(lengths.longer, signed)
    for each in found.latencies:
        yield from _latency(each)


def _latency(found: Latency) -> Iterator[tuple[str, str, str, str]]:
    for place, percent_of in enumerate(PERCENTS):
        if not found.requests:
            return
        against = banded(found.ratio, _times) if not place else ""
        a, b = (format_seconds(side[place]) for side in (found.a, found.b))
        yield f"{_TIMES[found.name]}, p{percent_of}", a, b, against


def _times(value: float) -> str:
    return f"{value:.3g}x"


def _switch(found: Switch) -> list[str]:
    """What would support sending everything to B."""
    if found.share is None or found.duration_s is None:
        return [f"What a full switch needs cannot be told: {found.reason}."]
    width = f"within {found.within:.2%}"
    needs = [f"  {_NEEDS[each.name]} {width}: {_needed(each)}" for each in found.needs]
    offers = ", ".join(f"{share(each.share)} {duration(each.seconds)}" for each in found.offers)
    said = "is there already" if found.enough else f"takes, by the share: {offers}"
    head = (
        f"A full switch is supported by a share of {share(found.share)} for {duration(found.duration_s)}, and a stretch of the busiest hours "
        "at a share of 100% for B's times under the whole load."
    )
    return [
        head,
        *needs,
        f"  at the rate that was seen, that {said}",
    ]


_NEEDS: Final = {"token_agreement": "agreement", "failed_by_b": "share that B fails"}


def _needed(found: Need) -> str:
    half = "" if found.half is None else f" (now {found.half:.2%} at {found.have:,})"
    return f"{found.needed:,} requests{half}"


def _notes(found: Mirrored) -> Iterator[str]:
    """What is to be said of a mirror, finished sentences."""
    others = found.compared - found.greedy
    if others:
        yield (
            f"{others:,} answers were drawn by chance (temperature above 0 or not stated), or were several at once: their words are not compared, "
            "their lengths, ends and times are."
        )
    if found.compared:
        yield f"B bore {found.share:.1%} of the load beside A's whole: its times are not those that it would have alone."
    for name, count in found.skipped.items():
        yield f"{count:,} of the drawn requests were not put to B: {_SKIPPED[name]}."
    for side, count in found.unreadable.items():
        yield f"{count:,} answers of {side.upper()} could not be compared: compressed, longer than is kept, or no answer of the API."
    counted = (
        found.aborted, found.unfinished, sum(found.traffic.unreached.values()), found.traffic.lost_sight, found.slowed,
    )  # fmt: skip
    for count, said in zip(counted, _COUNTED, strict=True):
        if count:
            yield said.format(count=count)
    if found.kept < found.compared:
        yield f"The figures are of {found.kept:,} of the {found.compared:,} that were compared, drawn evenly."
    yield _added(found)


_COUNTED: Final = (
    "{count:,} were called off by their clients, on A and on B.",
    "{count:,} had not ended on both sides when the mirror did.",
    "{count:,} connections of clients could not be passed on, as A could not be reached.",
    "{count:,} connections spoke something else than HTTP/1.1 and were passed on unseen.",
    "{count:,} clients read more slowly than A wrote; their times are left out.",
)


def _added(found: Mirrored) -> str:
    added = found.added
    if added.added.value is None or added.direct_s is None or added.through_s is None:
        return "What the mirror adds to an answer could not be measured: A did not answer its questions."
    ends = ""
    if added.added.low is not None and added.added.high is not None:
        ends = f" ({format_seconds(added.added.low)} to {format_seconds(added.added.high)})"
    return (
        f"The mirror adds {format_seconds(added.added.value)}{ends} to an answer, the median of {added.pairs:,} short questions to A: "
        f"{format_seconds(added.direct_s)} directly, {format_seconds(added.through_s)} through it."
    )

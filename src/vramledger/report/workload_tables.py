"""The tables of a workload's profile, the same in the terminal and on the page."""

from collections.abc import Mapping, Sequence
from typing import Final

from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, rate, share, share_of, tokens
from vramledger.workload.profile.profile import Lengths, Profile, Slice

PERCENTILES: Final = (("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p999"))
SYNTHETIC: Final = "Synthetic: these requests were generated and never sent by anyone."
_UNKNOWN: Final = "not known"


def tables(profile: Profile) -> list[Table]:
    """Every table that the profile can fill, in reading order."""
    found = (
        lengths(profile),
        outcomes(profile),
        models(profile),
        in_flight(profile),
        sessions(profile),
        prefixes(profile),
        context_limits(profile),
        scenarios(profile),
    )
    return [table for table in found if table is not None]


def headline(profile: Profile) -> str:
    """Who holds the KV cache, in one sentence."""
    holding = profile.holding
    if holding is None or holding.longest_1_percent is None:
        return f"Who holds the KV cache is {_reason(profile, 'holding')}"
    return (
        f"The longest 1 % of requests hold {share(holding.longest_1_percent)} of the KV cache "
        "(decoding steps taken as equally long: assumed)."
    )


def opening(profile: Profile) -> str:
    """How many requests, over how long and at which rate."""
    arrival, count = profile.arrival, f"{profile.requests:,} requests"
    if arrival.span_s is None or arrival.mean_per_s is None:
        return f"{count}; when they came is {_reason(profile, 'arrival')}"
    busiest = (
        "" if arrival.peak_per_s is None else f", {arrival.peak_per_s:,} in the busiest second"
    )
    return (
        f"{count} over {duration(arrival.span_s)}: {rate(arrival.mean_per_s)} at the mean{busiest}."
    )


def origin(profile: Profile) -> list[str]:
    """Where the requests come from and what was done to them, a finished sentence each."""
    said = []
    if profile.synthetic:
        said.append(SYNTHETIC)
    if profile.formats:
        read = ", ".join(f"{name} ({_files(count)})" for name, count in profile.formats.items())
        said.append(f"Read as {read}.")
    if profile.tenants and profile.tenants > 1:
        said.append(f"Requests came from {profile.tenants:,} tenants, kept apart by number alone.")
    return list(dict.fromkeys([*said, *_loss(profile), *profile.inferred, *profile.history]))


def unknown(profile: Profile) -> list[str]:
    """What is not known, and why."""
    return [f"{part}: {why}" for part, why in sorted(profile.unknown.items())]


def lengths(profile: Profile) -> Table | None:
    """Percentiles of every length."""
    kinds = (
        ("input", profile.input_tokens),
        ("output", profile.output_tokens),
        ("input + output", profile.total_tokens),
        ("thinking, part of output", profile.thinking_tokens),
        ("output limit asked for", profile.max_output_tokens),
    )
    rows = tuple(_length_row(profile, name, found) for name, found in kinds if found is not None)
    head = (
        "tokens",
        "requests",
        "total",
        "mean",
        *(shown for shown, _ in PERCENTILES),
        "max",
        "basis",
    )
    return Table("Lengths", head, rows, frozenset(range(1, 9))) if rows else None


def _length_row(profile: Profile, name: str, found: Lengths) -> tuple[str, ...]:
    at = [tokens(getattr(found, key)) for _, key in PERCENTILES]
    basis = "synthetic" if profile.synthetic else profile.basis.get(f"{name}_tokens", "")
    counts = (f"{found.count:,}", f"{found.total:,}", tokens(found.mean))
    return (name, *counts, *at, tokens(found.max), basis)


def outcomes(profile: Profile) -> Table | None:
    """How the requests ended."""
    rows = _counted(profile.outcomes, profile.requests)
    notes = [
        sentence
        for count, sentence in (
            (profile.retries, f"{profile.retries:,} of the requests repeat an earlier attempt."),
            (
                profile.cancellations,
                f"{profile.cancellations:,} of the requests were given up by the client.",
            ),
        )
        if count
    ]
    head = ("outcome", "requests", "share")
    return Table("Outcomes", head, rows, frozenset({1, 2}), tuple(notes)) if rows else None


def models(profile: Profile) -> Table | None:
    """Requests of each model, where there are several."""
    if len(profile.models) < 2:
        return None
    rows = _counted(profile.models, profile.requests)
    return Table("Models", ("model", "requests", "share"), rows, frozenset({1, 2}))


def _counted(counts: Mapping[str, int], requests: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (name, f"{count:,}", share_of(count, requests))
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def in_flight(profile: Profile) -> Table | None:
    """Requests at once, where durations are known."""
    found = profile.concurrency
    if found is None:
        return None
    values = (found.mean, found.p50, found.p95, found.p99, found.max)
    return Table(
        "Requests in flight",
        ("mean", "p50", "p95", "p99", "max"),
        (tuple(tokens(value) for value in values),),
        frozenset(range(5)),
        ("Counted at whole seconds, on the server that wrote the log (measured there).",),
    )


def sessions(profile: Profile) -> Table | None:
    """Turns of the conversations."""
    found = profile.sessions
    if found is None:
        return None
    rows = tuple(
        (f"{turns:,}", f"{count:,}", share_of(count, found.count)) for turns, count in found.turns
    )
    notes = [f"{found.count:,} conversations."]
    if found.think_s:
        median = found.think_s[len(found.think_s) // 2]
        notes.append(f"{duration(median)} pass between two turns at the median.")
    if found.carried is not None:
        notes.append(
            f"{share(found.carried)} of all input tokens of later turns was said in the turn before."
        )
    head = ("turns of a conversation", "conversations", "share")
    return Table("Conversations", head, rows, frozenset({0, 1, 2}), tuple(notes))


def prefixes(profile: Profile) -> Table | None:
    """What a prefix cache could serve, by block size."""
    found = profile.prefix
    notes = []
    if found.cached_share is not None:
        notes.append(f"The source's own cache served {share(found.cached_share)} of the input.")
    if found.block_tokens is not None:
        notes.append(f"{found.distinct:,} of {found.blocks:,} full blocks differ.")
        notes.append("Every block is kept for ever: a real cache serves less (upper end).")
    rows = tuple(
        (f"{each.block_tokens:,}", f"{each.reusable_tokens:,}", share(each.share))
        for each in found.reuse
    )
    if not rows and not notes:
        return None
    head = ("tokens a block", "reusable tokens", "share of input")
    return Table("Prefix sharing", head, rows, frozenset({0, 1, 2}), tuple(notes))


def context_limits(profile: Profile) -> Table | None:
    """What a limit on input + output turns away."""
    if not profile.context:
        return None
    asked = any(each.over_budget is not None for each in profile.context)
    head = ["limit, tokens", "refused", "share", "cut", "share", *(["over budget"] * asked)]
    rows = [
        (
            f"{each.limit:,}",
            f"{each.refused:,}",
            share_of(each.refused, profile.requests),
            f"{each.cut:,}",
            share_of(each.cut, profile.requests),
            *(["" if each.over_budget is None else f"{each.over_budget:,}"] * asked),
        )
        for each in profile.context
    ]
    notes = ["Refused: the input leaves no room for an answer. Cut: the answer would end early."]
    if asked:
        notes.append("Over budget: input and the output limit asked for do not fit together.")
    return Table("Context limits", tuple(head), tuple(rows), frozenset(range(6)), tuple(notes))


def scenarios(profile: Profile) -> Table | None:
    """The named slices, with what defines them."""
    if not profile.scenarios:
        return None
    head = (
        "scenario",
        "from",
        "for",
        "requests",
        "rate",
        "input p50",
        "p95",
        "max",
        "output p50",
        "p95",
        "max",
    )
    rows = tuple(_scenario_row(each) for each in profile.scenarios)
    notes = tuple(
        f"{each.name}: {each.definition.removesuffix('.')}." for each in profile.scenarios
    )
    return Table("Scenarios", head, rows, frozenset(range(3, 11)), notes)


def _scenario_row(each: Slice) -> tuple[str, ...]:
    return (
        each.name,
        "" if each.start_s is None else duration(each.start_s),
        "" if each.seconds is None else duration(each.seconds),
        f"{each.requests:,}",
        "" if each.mean_per_s is None else rate(each.mean_per_s),
        *_three(each.input_tokens),
        *_three(each.output_tokens),
    )


def _three(found: Lengths | None) -> Sequence[str]:
    return ("", "", "") if found is None else [tokens(x) for x in (found.p50, found.p95, found.max)]


def _loss(profile: Profile) -> list[str]:
    """The loss report in sentences; it comes out of a file, so what is not as expected is left out."""
    loss = profile.loss
    read, kept, dropped = (loss.get(key) for key in ("rows_read", "rows_kept", "dropped"))
    said = []
    if isinstance(read, int) and isinstance(kept, int):
        said.append(f"{read:,} rows were read and {kept:,} kept.")
    if isinstance(dropped, Mapping):
        said += [f"{count} dropped: {reason}." for reason, count in dropped.items()]
    for key in ("assumed", "lacks"):
        sentences = loss.get(key)
        said += [str(each) for each in sentences] if isinstance(sentences, list | tuple) else []
    return said


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _reason(profile: Profile, part: str) -> str:
    why = profile.unknown.get(part)
    return f"{_UNKNOWN}." if why is None else f"{_UNKNOWN}: {why}"

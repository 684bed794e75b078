"""The tables of a report, which the page and the Markdown share."""

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from vramledger.record.document import Origin
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, share
from vramledger.report.run_report.model import (
    Beside,
    Report,
    RuledLine,
    Ruling,
    RunReport,
    Seal,
    Terms,
    Verdict,
)
from vramledger.report.run_report.over_time import latency_words
from vramledger.report.verdict import interval
from vramledger.trial.client.health import Health
from vramledger.trial.conduct.spread import Spread
from vramledger.units import format_gib, format_seconds, gib

_BLANK: Final = "____________________"
_PROPOSED: Final = {
    Verdict.PASS: "The order counts as delivered.",
    Verdict.FAIL: "The supplier mends what fails, and the trial is repeated.",
    Verdict.INCONCLUSIVE: "What is open is settled by a further trial; until then nothing is accepted or refused.",
}
_SPREAD: Final = ("p50", "p95", "p99", "max")
_OPEN_END: Final = "An interval without an upper end (or more) reaches into requests that failed, or beyond what so few requests tell."


def contract_table(ruling: Ruling, run: str, what: str = "Contract of") -> Table:
    """The contract line by line, or `what` else was asked; intervals where there are any."""
    lines = ruling.lines
    intervals = any(each.low is not None for each in lines)
    head = ("verdict", "asked", "found", *(("95 % interval",) if intervals else ()), "why")
    rows = tuple(
        (
            str(each.verdict),
            each.name,
            "failed" if each.value == inf else each.found,
            *((_interval(each),) if intervals else ()),
            _why(each),
        )
        for each in lines
    )
    notes = ((ruling.why,) if ruling.why else ()) + (
        (_OPEN_END,) if any(map(_is_open, lines)) else ()
    )
    return Table(f"{what} {ruling.scenario or run}: {ruling.verdict}", head, rows, notes=notes)


def _why(line: RuledLine) -> str:
    reason = line.reason or ("more than the share allowed failed" if line.value == inf else "")
    settles = f"Would settle it: {line.settles}." if line.settles else ""
    return f"{reason.removesuffix('.')}. {settles}" if reason and settles else reason or settles


def _is_open(line: RuledLine) -> bool:
    return line.low is not None and line.low < inf and line.high == inf


def _interval(line: RuledLine) -> str:
    return "" if line.low is None or line.high is None else interval(line.low, line.high, line.unit)


def about_table(run: RunReport) -> Table:
    """What the run is."""
    return Table("What was run", ("", ""), run.about)


def count_table(run: RunReport) -> Table:
    """What became of the requests."""
    offered = dict(run.counts).get("offered", 0)
    rows = tuple(
        (name, f"{count:,}", share(count / offered) if offered else "")
        for name, count in run.counts
    )
    return Table("What became of the requests", ("", "requests", "of all"), rows, frozenset({1, 2}))


def percentile_table(run: RunReport) -> Table:
    """Over everything that was offered, from when it was due."""
    rows = tuple(
        (each.name, f"{each.count:,}", *(latency_words(getattr(each, name)) for name in _SPREAD))
        for each in run.percentiles
    )
    head = ("of all that was offered, from due", "values", *_SPREAD)
    note = "A percentile that falls among failures is called failed. ITL is of the requests that ended as asked."
    return Table(
        "Percentiles",
        head,
        rows,
        frozenset(range(1, len(head))),
        notes=(note,) if rows else ("Nothing was measured.",),
    )


def ledger_table(run: RunReport) -> Table:
    """What was predicted of memory beside what was measured."""
    word = "measured" if run.origin is Origin.MEASURED else run.origin.value
    head = ("", "low", "expected", "high", "basis", word, "")
    rows = tuple(_beside(each) for each in run.ledger.rows)
    notes = (
        (run.ledger.why,)
        if run.ledger.why
        else (f"The ledger of {run.ledger.of}. A row that nobody told stands as predicted alone.",)
    )
    return Table(
        f"Memory: the ledger as predicted (calibrated and assumed), beside what was {word}",
        head,
        rows,
        frozenset({1, 2, 3, 5}),
        notes,
    )


def _beside(found: Beside) -> tuple[str, ...]:
    form = "{:,.2f}" if found.unit.startswith("GiB") else "{:,.0f}"
    told = "-" if found.measured is None else form.format(found.measured)
    inside = {None: "", True: "inside the band", False: "OUTSIDE the band"}[found.inside]
    said = "; ".join(each for each in (inside, found.said) if each)
    ends = (form.format(each) for each in (found.low, found.expected, found.high))
    return (f"{found.name}, {found.unit}", *ends, found.basis, told, said)


def server_table(run: RunReport) -> Table | None:
    """Levels of the server while the load was sent; None of what is no trial."""
    if run.summary is None:
        return None
    side = run.summary.server
    rows = [
        *_levels("KV cache in use", side.levels["kv_usage"], share),
        *_levels("running", side.levels["running"], lambda value: f"{value:,.0f}"),
        *_levels("waiting", side.levels["waiting"], lambda value: f"{value:,.0f}"),
    ]
    for name, each in side.memory_bytes.items():
        rows += _levels(f"memory of {name}", each, lambda value: format_gib(gib(value)))
    said = [] if side.preemptions is None else [f"Preemptions: {side.preemptions:,.0f}."]
    if side.prefix_hit_share is not None:
        said.append(f"Prefix hits: {share(side.prefix_hit_share)} of the prompt tokens looked up.")
    notes = tuple(said) if rows or said else ("Nothing was told by the server or its GPUs.",)
    return Table(
        "The server and its GPUs", ("", *_SPREAD), tuple(rows), frozenset({1, 2, 3, 4}), notes
    )


def _levels(title: str, found: Spread, form: Callable[[float], str]) -> list[tuple[str, ...]]:
    told = [getattr(found, name) for name in _SPREAD]
    return [] if found.p50 is None else [(title, *(form(each) for each in told))]


def client_table(run: RunReport) -> Table | None:
    """How the client was: whether it can be believed; None of what is no trial."""
    if run.summary is None:
        return None
    rows = tuple(_worker(number, each) for number, each in enumerate(run.summary.healths, 1))
    head = (
        "",
        "for",
        "sent late, p99",
        "loop lag, p99",
        "busiest second",
        "connections",
        "verdict",
    )
    notes = (
        () if rows else ("No client told how it was, so whether it was the bottleneck is unknown.",)
    )
    return Table("Health of the client", head, rows, frozenset({1, 2, 3, 4, 5}), notes)


def _worker(number: int, found: Health) -> tuple[str, ...]:
    late, lag = (
        "-" if each is None else format_seconds(each)
        for each in (found.late_dispatch_s.p99, found.loop_lag_s.p99)
    )
    return (
        f"worker {number}", duration(found.seconds), late, lag, share(found.cpu_share), f"{found.most_sockets:,}",
        found.bottleneck or "not the bottleneck",
    )  # fmt: skip


def seal_table(seal: Seal) -> Table:
    """What was looked at when the bundle was verified."""
    rows = tuple((each.standing, each.name, each.said) for each in seal.checks)
    return Table(
        "The bundle", ("", "looked at", "found"), rows, notes=(seal.said,) if seal.said else ()
    )


def party_table(report: Report, terms: Terms) -> Table:
    """Who bought what of whom, and by what the evidence is known."""
    seal = report.seal
    sealed = "not sealed" if seal is None or seal.sha256 is None else seal.sha256
    people = () if seal is None else seal.people
    rows = (
        ("buyer", terms.buyer or _BLANK),
        ("supplier", terms.supplier or _BLANK),
        ("order", terms.order or _BLANK),
        *people,
        ("bundle, SHA-256", sealed),
        ("signed by key", "nobody" if seal is None or seal.signed_by is None else seal.signed_by),
    )
    return Table("Parties and order", ("", ""), rows)


def consequence_table(report: Report, terms: Terms) -> Table:
    """What follows from each verdict; what was not agreed on is a proposal, and says so."""
    agreed = {
        Verdict.PASS: terms.on_pass,
        Verdict.FAIL: terms.on_fail,
        Verdict.INCONCLUSIVE: terms.on_inconclusive,
    }
    rows = tuple(
        (
            str(said),
            "applies" if said is report.verdict else "",
            "agreed" if agreed[said] else "assumed",
            agreed[said] or _PROPOSED[said],
        )
        for said in _PROPOSED
    )
    assumed = not all(agreed.values())
    note = (
        ("What is assumed is a proposal: what the parties agreed on stands in their order.",)
        if assumed
        else ()
    )
    mark = " (assumed)" if not any(agreed.values()) else " (partly assumed)" if assumed else ""
    return Table(f"What follows{mark}", ("verdict", "", "basis", "consequence"), rows, notes=note)


def signature_table(terms: Terms) -> Table:
    """Where to sign."""
    rows = tuple(
        (who, name or _BLANK, _BLANK, _BLANK)
        for who, name in (("buyer", terms.buyer), ("supplier", terms.supplier))
    )
    return Table("Signatures", ("", "name", "place and date", "signature"), rows)


def run_tables(run: RunReport) -> Iterator[Table]:
    """Of one run, after its plots."""
    yield count_table(run)
    yield percentile_table(run)
    yield ledger_table(run)
    yield from (each for each in (server_table(run), client_table(run)) if each is not None)
    yield about_table(run)

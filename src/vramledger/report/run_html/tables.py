"""The tables of a report, in the order in which they are read: verdict first."""

from collections.abc import Iterator
from typing import Final

from vramledger.bundle.check import Standing
from vramledger.bundle.verdict import FAIL, OPEN, PASS
from vramledger.methods.measured.contract import Standing as LineStanding
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration
from vramledger.report.run_html.shown import Shown, ShownRun
from vramledger.trial.conduct.spread import Spread
from vramledger.units import format_seconds

_SAID: Final = {
    LineStanding.HOLDS: PASS,
    LineStanding.FAILS: FAIL,
    LineStanding.OPEN: OPEN,
}
_LATENCIES: Final = {"ttft_s": "TTFT", "tpot_s": "TPOT", "e2e_s": "E2E"}
_BLANK: Final = "____________________"
_CONSEQUENCES: Final = (
    ("PASS", "the order counts as delivered"),
    ("FAIL", "the supplier mends what fails, and the trial is repeated"),
    ("INCONCLUSIVE", "what is open is settled by a further trial; until then nothing is accepted or refused"),
)  # fmt: skip


def verdict_tables(shown: Shown) -> Iterator[Table]:
    """The contract of each run, line by line, and whether the bundle is as it was sealed."""
    for run in shown.runs:
        yield _contract(run)
    if shown.verified is not None:
        said = {Standing.HOLDS: "ok", Standing.FAILS: "FAILS", Standing.OPEN: "not checked"}
        rows = tuple((each.name, said[each.standing], each.said) for each in shown.verified.checks)
        note = "This proves that nothing changed since it was sealed, not that the records are genuine."
        yield Table("The bundle", ("looked at", "", "found"), rows, notes=(note,))


def _contract(run: ShownRun) -> Table:
    rows = tuple(
        (_SAID[each.standing], each.line.asked, each.line.found, each.why)
        for each in run.contract.lines
    )
    notes = () if rows else ("The run was made without a contract, so nothing was promised.",)
    head = ("verdict", "asked", "found", "why it is open")
    return Table(f"Contract, run {run.name}: {run.verdict}", head, rows, notes=notes)


def acceptance_tables(shown: Shown) -> Iterator[Table]:
    """What two parties fill in and sign."""
    manifest = {} if shown.verified is None else shown.verified.manifest or {}
    people = manifest.get("people") or {}
    parties = (
        ("supplier", _BLANK),
        ("buyer", _BLANK),
        ("order", _BLANK),
        ("ran by", people.get("ran_by") or _BLANK),
        ("watched by", people.get("watched_by") or _BLANK),
        ("sealed by", people.get("sealed_by") or _BLANK),
        ("bundle, SHA-256", manifest.get("sha256") or "not sealed"),
    )
    yield Table("Parties and order", ("", ""), parties)
    consequences = tuple((("> " if said == shown.verdict else "") + said, what) for said, what in _CONSEQUENCES)  # fmt: skip
    note = "These are proposals (assumed): what the parties agreed on stands in their order."
    yield Table("What follows", ("verdict", "consequence"), consequences, notes=(note,))
    signed = (("supplier", _BLANK, _BLANK, _BLANK), ("buyer", _BLANK, _BLANK, _BLANK))
    yield Table("Signatures", ("", "name", "place and date", "signature"), signed)


def open_points(shown: Shown) -> list[str]:
    """What nobody decided: lines that are open, and what weakens the figures."""
    found: list[str] = []
    for run in shown.runs:
        lines = (each for each in run.contract.lines if each.standing is LineStanding.OPEN)
        found += [f"{each.line.asked}: {each.why or 'not checked'}" for each in lines]
        found += [*run.summary.inconclusive, *run.summary.warnings]
        found += [f"Not seen: {each}" for each in run.summary.unseen]
    return list(dict.fromkeys(found))


def figure_tables(run: ShownRun) -> Iterator[Table]:
    """What became of the requests, the latencies, and how the client was."""
    found = run.summary
    rows = (("offered", f"{found.offered:,}"), *((k, f"{n:,}") for k, n in found.requests.items()))
    yield Table(f"Requests, run {run.name}", ("", "requests"), rows, frozenset({1}))
    said = found.latencies
    listed = [(title, said.offered[name]) for name, title in _LATENCIES.items()]
    spreads = [*listed, ("ITL", said.itl_s), ("sent late", said.late_dispatch_s)]
    times = tuple((title, *_times(each)) for title, each in spreads)
    head = ("all offered, failures infinite", "p50", "p95", "p99", "max")
    yield Table(f"Percentiles, run {run.name}", head, times, frozenset({1, 2, 3, 4}))
    clients = tuple(
        (
            f"worker {number}",
            duration(each.seconds) if hasattr(each, "seconds") else "",
            each.bottleneck or "no bottleneck",
        )
        for number, each in enumerate(found.healths)
    )
    notes = () if clients else ("No client told how it was.",)
    yield Table(f"Client, run {run.name}", ("", "time", "found"), clients, notes=notes)


def _times(found: Spread) -> Iterator[str]:
    for value in (found.p50, found.p95, found.p99, found.max):
        yield _time(value)


def _time(value: float | str | None) -> str:
    if value is None:
        return "-"
    infinite = isinstance(value, str) or value == float("inf")
    return "failed" if infinite else format_seconds(float(value))

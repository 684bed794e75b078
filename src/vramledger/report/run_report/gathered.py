"""A run read for a report: what it says of itself, its figures, and everything that weakens them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.record.run import Run, read_run
from vramledger.record.samples import GPU, SERVER, STEPS
from vramledger.record.soundness import check_sound
from vramledger.report.run_report.about import about_rows
from vramledger.report.run_report.ledger_beside import ledger_beside
from vramledger.report.run_report.model import (
    Percentiles,
    Report,
    Ruling,
    RunReport,
    Seal,
    Terms,
)
from vramledger.report.run_report.ruling import ByPlan, rulings
from vramledger.report.series_report.model import SeriesReport
from vramledger.report.trial_events import event_sentences
from vramledger.trial.conduct.summary import Summary, summarise
from vramledger.trial.conduct.timeline import ITL, Timeline, timeline_of
from vramledger.trial.server.differences import changes

if TYPE_CHECKING:
    from vramledger.calibrate.run_deployment import Stated
    from vramledger.plan.requirement import Requirement
    from vramledger.trial.conduct.spread import Spread

TITLES: Final = {"ttft_s": "TTFT", ITL: "ITL", "tpot_s": "TPOT", "queue_s": "queue", "e2e_s": "E2E"}
_SHARES: Final = (0.5, 0.95, 0.99, 1.0)
_NO_PART: Final = {
    SERVER.name: "No metrics page of the server was read: what ran and waited, its KV cache and its preemptions are not seen.",
    GPU.name: "No GPU was sampled: their memory is not seen.",
}


def gathered(
    title: str,
    folders: Sequence[Path],
    stated: "Stated",
    seal: Seal | None = None,
    terms: Terms | None = None,
    plan: "Requirement | None" = None,
    series: Sequence[SeriesReport] = (),
    notes: Sequence[str] = (),
    sealed: ByPlan | None = None,
) -> Report:
    """The report of closed runs, and of series; with terms, or a plan that was named, a scenario without a run is a gap.

    Raises:
        BadInput: one is no closed run, or damaged; two have one name, or do not belong to the plan.
    """
    names = [folder.resolve().name for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"Two of the runs are in folders called {twice}; rename one of them.")
    read = [read_run(folder.resolve()) for folder in folders]
    summaries = [_summary(run) for run in read]
    ruled = rulings(read, summaries, plan, is_whole=terms is not None, sealed=sealed)
    runs = tuple(
        _run_report(f"run-{number}", run, summary, ruled.of[run.path.name], stated)
        for number, (run, summary) in enumerate(zip(read, summaries, strict=True), 1)
    )
    points = [*_of_seal(seal), *_mixed(runs), *ruled.notes]
    decided = {name for each in series for name in each.scenarios}
    missing = tuple(each for each in ruled.missing if each.scenario not in decided)
    parts: tuple[RunReport | SeriesReport, ...] = (*runs, *series)
    points += [_of_part(part, each, parts) for part in parts for each in part.open_points]
    points += notes
    return Report(title, runs, tuple(dict.fromkeys(points)), seal, terms, missing, tuple(series))


def _run_report(
    key: str, run: Run, summary: Summary | None, ruling: Ruling, stated: "Stated"
) -> RunReport:
    try:
        timeline = timeline_of(run)
    except CannotKnow:
        timeline = None
    return RunReport(
        key=key,
        name=run.path.name,
        description=run.description,
        about=tuple(about_rows(run, summary)),
        ruling=ruling,
        counts=tuple(_counts(run, summary)),
        percentiles=tuple(_percentiles(summary, timeline)),
        ledger=ledger_beside(run, summary, stated),
        open_points=tuple(dict.fromkeys(_open(run, summary, timeline))),
        summary=summary,
        timeline=timeline,
    )


def _summary(run: Run) -> Summary | None:
    """None of a run that is no trial."""
    if "trial" not in (run.description.model_extra or {}):
        return None
    return summarise(run)


def _counts(run: Run, summary: Summary | None) -> Iterator[tuple[str, int]]:
    if summary is not None:
        yield "offered", summary.offered
        yield from summary.requests.items()
        return
    yield "offered", run.requests.rows
    outcomes = run.requests.read(("outcome",))["outcome"].value_counts().to_pylist()
    yield from sorted((str(each["values"]), int(each["counts"])) for each in outcomes)


def _percentiles(summary: Summary | None, timeline: Timeline | None) -> Iterator[Percentiles]:
    """The summary's own where there is one, which are exact; else those of the timeline."""
    if summary is not None:
        said = summary.latencies
        for name, spread in (*said.offered.items(), (ITL, said.itl_s)):
            if name in TITLES and spread.count:
                yield _of_spread(TITLES[name], spread)
        return
    if timeline is None:
        return
    for name, title in TITLES.items():
        found = timeline.distributions.get(name)
        if found is not None:
            at = [found.at(share) for share in _SHARES]
            yield Percentiles(title, at[0], at[1], at[2], at[3], round(found.count))


def _of_spread(title: str, found: "Spread") -> Percentiles:
    p50, p95, p99, most = (found.p50, found.p95, found.p99, found.max)
    assert p50 is not None and p95 is not None and p99 is not None and most is not None  # noqa: PT018, S101 - it has values
    return Percentiles(title, p50, p95, p99, most, found.count)


def _open(run: Run, summary: Summary | None, timeline: Timeline | None) -> Iterator[str]:
    """What weakens the figures, what nobody saw, and what is not sound; finished sentences."""
    try:
        check_sound(run)
    except BadInput as error:
        yield str(error)
    if timeline is None:
        yield "No request counts, so nothing was measured and nothing is drawn."
    if summary is None:
        yield "It is no trial: nobody sent a load to a server."
    else:
        yield from _of_summary(summary)
    if STEPS.name not in run.tables:
        yield from (said for name, said in _NO_PART.items() if name not in run.tables)


def _of_summary(found: Summary) -> Iterator[str]:
    yield from found.inconclusive
    yield from found.warnings
    yield from (f"{each.line}: {each.why}." for each in found.unjudgeable)
    yield from (f"At {each.from_s:,.1f} s nothing was sent for {each.seconds:,.1f} s, while the recorder was away." for each in found.story.pauses)  # fmt: skip
    yield from (f"{each[0].upper()}{each[1:]}" for each in event_sentences(found.story.events))
    names = [each for each in found.unseen if not each.endswith(".")]
    if names:
        yield f"Not seen: {'; '.join(names)}."
    yield from (each for each in found.unseen if each.endswith("."))


def _of_part(
    part: RunReport | SeriesReport, said: str, parts: Sequence[RunReport | SeriesReport]
) -> str:
    return said if len(parts) == 1 else f"{part.name}: {said}"


def _of_seal(seal: Seal | None) -> Iterator[str]:
    if seal is not None and seal.unchanged is not True:
        yield "The bundle is not as it was sealed, so what it holds decides nothing."


def _mixed(runs: Sequence[RunReport]) -> Iterator[str]:
    """Where the runs of one report were not made on one deployment, of one kind, on one load."""
    for one, other in pairwise(runs):
        found = changes(one.description.in_effect, other.description.in_effect)
        for each in found:
            what = f"--{each.name}" if each.title is None else f"The {each.title}"
            yield f"{what} is {each.one} in {one.name} and {each.other} in {other.name}, so these runs are not of one deployment."
        if one.origin is not other.origin:
            yield f"{one.name} is {one.origin.value} and {other.name} is {other.origin.value}: their figures are not of one kind."

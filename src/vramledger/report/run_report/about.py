"""What a run says of itself, in words: origin, engine, model, card, server, load, times, hashes, arguments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vramledger.record.document import Origin
from vramledger.report.trial_load import ended_words, load_words

if TYPE_CHECKING:
    from vramledger.record.document import Description
    from vramledger.record.run import Run
    from vramledger.trial.conduct.summary import Summary

_ORIGINS: Final = {
    Origin.MEASURED: "measured",
    Origin.REHEARSED: "rehearsed on a simulated server, not measured",
    Origin.SIMULATED: "simulated, not measured",
    Origin.IMPORTED: "imported from another tool, measured by its client",
}


def about_rows(run: "Run", summary: "Summary | None") -> Iterator[tuple[str, str]]:
    """Names and words, those that are known."""
    about = run.description
    seen, asked = about.in_effect, about.asked
    yield "name", about.name
    yield "origin", _ORIGINS[about.origin]
    engine = " ".join(each for each in (seen.engine, seen.engine_version) if each)
    yield "engine", engine or "unknown"
    yield "model", seen.model or asked.model or "unknown"
    yield "GPU", seen.gpu or asked.gpu or "unknown"
    if summary is not None:
        yield "server", str(summary.trial["server"])
        yield "load", load_words(summary)
        yield "ended", ended_words(summary)
    if about.scenario is not None:
        yield "scenario", about.scenario
    yield from _documents(about)
    arguments = seen.arguments or asked.arguments or {}
    said = ", ".join(f"{name} {value}" for name, value in sorted(arguments.items()))
    yield "arguments", said or "unknown"


def _documents(about: "Description") -> Iterator[tuple[str, str]]:
    yield "began", about.started_at or "unknown"
    yield "over", about.ended_at or "unknown"
    if about.in_effect.driver:
        yield "GPU driver", about.in_effect.driver
    if about.plan is not None:
        yield "plan, SHA-256", about.plan.sha256
    yield "workload, SHA-256", about.workload_sha256 or "unknown"
    yield "run, SHA-256", about.sha256 or "unknown"
    yield "client", f"vramledger {about.client_version or 'unknown'}"

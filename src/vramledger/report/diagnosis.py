"""A diagnosis on a terminal."""

from collections.abc import Iterator
from math import isfinite
from typing import Final

from vramledger.diagnose.counterfactual.memory import Helps
from vramledger.diagnose.counterfactual.remedies import Remedy
from vramledger.diagnose.diagnosis import Diagnosis, Judged
from vramledger.diagnose.finding import HEALTHY, UNKNOWN, Finding
from vramledger.report.number import share
from vramledger.report.table import table
from vramledger.units import format_seconds

_MARKS: Final = (("+", "supports"), ("-", "contradicts"), ("?", "unseen"))


_ANSWERS: Final = {
    Helps.YES: "Yes.",
    Helps.NO: "No.",
    Helps.UNKNOWN: "Unknown.",
}
_HEAD: Final = ("change", "TTFT mean", "p95", "request", "preemptions", "GPUs", "an hour", "leaves")


def diagnosis_text(found: Diagnosis) -> str:
    """The findings, and what the simulator says of changes."""
    return "\n".join([findings_text(found.judged), "", *_changes(found)])


def _changes(found: Diagnosis) -> Iterator[str]:
    memory = found.memory
    yield f"Would more memory help? Now: {_ANSWERS[memory.now.answer]} {memory.now.reason}"
    if memory.change:
        yield f"After the next change: {_ANSWERS[memory.after.answer]} {memory.after.reason}"
    if found.expected is not None:
        before, after = found.expected
        yield (
            f"The simulator expects of the next change: time to the first token {seconds(before.ttft_mean_s)} to {seconds(after.ttft_mean_s)} on average, a whole "
            f"request {seconds(before.e2e_mean_s)} to {seconds(after.e2e_mean_s)}, recomputed tokens {before.recomputed_tokens:,} to {after.recomputed_tokens:,}."
        )
    if found.remedies:
        yield ""
        whose = "; prices are those of the plan in the run" if found.prices_from == "plan" else ""
        yield f"remedies, each by itself (simulated{whose})"
        yield from table(
            _HEAD, [_remedy(each) for each in found.remedies], frozenset({1, 2, 3, 4, 5, 6})
        )
    if found.test is not None:
        yield ""
        yield f"Controlled test: {found.test.reason}"
    if found.upgrade is not None:
        yield ""
        yield f"Upgrade to {found.upgrade.candidate}: {found.upgrade.standing.value}. {found.upgrade.reason}"
    if 0 < found.played < found.offered:
        yield ""
        yield f"Played were the {found.played:,} requests of the busiest time, of {found.offered:,}."


def _remedy(each: Remedy) -> tuple[str, ...]:
    price = "" if each.price_per_hour is None else f"{each.price_per_hour:.2f}"
    if each.found is None:
        return (each.change, "", "", "", "", str(each.gpus), price, each.reason)
    found = each.found
    return (
        each.change,
        seconds(found.ttft_mean_s),
        seconds(found.ttft_p95_s),
        seconds(found.e2e_mean_s),
        f"{found.preemptions:,}",
        str(each.gpus),
        price,
        each.untouched,
    )


def seconds(value: float) -> str:
    """A time to three digits; a dash for none."""
    return format_seconds(float(f"{value:.3g}")) if isfinite(value) else "-"


def findings_text(found: Judged) -> str:
    """The findings, the strongest first, each with what speaks for and against it."""
    lines: list[str] = []
    for number, each in enumerate(found.findings):
        lines += [*([""] if number else []), *_finding(each)]
    lines += ["", found.picture.evidence.slow.said]
    if found.picture.evidence.missing:
        lines += ["", "not seen"]
        lines += [f"  {each}" for each in found.picture.evidence.missing]
    return "\n".join(lines)


def _finding(each: Finding) -> Iterator[str]:
    if each.cause in (HEALTHY, UNKNOWN):
        yield f"{'HEALTHY' if each.cause == HEALTHY else 'CANNOT KNOW'}: {each.message}"
    else:
        yield f"{each.severity.value.upper()} {each.id} {each.message}"
        yield f"  score {each.score:.2f}, confidence {share(each.confidence)}"
    for mark, name in _MARKS:
        for text in getattr(each, name):
            yield f"  {mark} {text}"
    if each.next_change is not None:
        yield f"  next: {each.next_change.text}"

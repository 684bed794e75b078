"""A diagnosis on a terminal."""

from collections.abc import Iterator
from typing import Final

from vramledger.diagnose.diagnosis import Judged
from vramledger.diagnose.finding import HEALTHY, UNKNOWN, Finding
from vramledger.report.number import share

_MARKS: Final = (("+", "supports"), ("-", "contradicts"), ("?", "unseen"))


def findings_text(found: Judged) -> str:
    """The findings, the strongest first, each with what speaks for and against it."""
    lines: list[str] = []
    for number, each in enumerate(found.findings):
        lines += [*([""] if number else []), *_finding(each)]
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

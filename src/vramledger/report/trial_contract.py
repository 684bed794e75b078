"""A plan's contract held against a trial, for a terminal and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vramledger.methods.measured.contract import Promise, Promised, Standing
from vramledger.report.simulation_contract import asked_text, found_text

_SAID: Final[Mapping[Standing, str]] = {
    Standing.HOLDS: "PASS",
    Standing.FAILS: "FAIL",
    Standing.OPEN: "INCONCLUSIVE",
}


def contract_lines(found: Promised) -> Iterator[str]:
    """The whole first, then every line, as of a simulation; nothing where nothing was promised."""
    if found.standing is None:
        return
    of = found.scenario or "the plan"
    yield f"contract    of {of}: {_SAID[found.standing]}; figures of this one run, without intervals"
    yield from (f"{_label(each):<12} {_told(each)}" for each in found.lines)


def contract_json(found: Promised) -> dict[str, Any] | None:
    """None where nothing was promised; `standing` is holds, fails or not decided."""
    if found.standing is None:
        return None
    return {
        "scenario": found.scenario,
        "standing": str(found.standing),
        "lines": [
            {
                "asked": each.line.asked,
                "found": each.line.found,
                "standing": str(each.standing),
                "reason": each.why or None,
            }
            for each in found.lines
        ],
    }


def _label(promise: Promise) -> str:
    return "not checked" if promise.is_unchecked else _SAID[promise.standing]


def _told(promise: Promise) -> str:
    asked, found = asked_text(promise.line), found_text(promise.line)
    if promise.is_unchecked:
        return f"{asked}: {promise.why}"
    few = promise.line.few is not None  # `found` says so already
    return f"{asked}: {found}" + (f"; {promise.why}" if promise.why and not few else "")

"""A plan's contract held against a trial, for a terminal and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vramledger.methods.measured.contract import Promise, Promised, Standing
from vramledger.report.table import table

_SAID: Final[Mapping[Standing, str]] = {
    Standing.HOLDS: "HOLDS",
    Standing.FAILS: "DOES NOT HOLD",
    Standing.OPEN: "NOT DECIDED",
}
_HEAD: Final = ("asked", "found", "")


def contract_lines(found: Promised) -> Iterator[str]:
    """The whole first, then every line; nothing where nothing was promised."""
    if found.standing is None:
        return
    yield f"contract    of {found.scenario or 'the plan'}: {_SAID[found.standing]}; figures of one run, without intervals"
    yield from table(_HEAD, [_row(each) for each in found.lines], frozenset({1}))


def contract_json(found: Promised) -> dict[str, Any] | None:
    """None where nothing was promised; `standing` is holds, fails or not decided."""
    if found.standing is None:
        return None
    return {
        "scenario": found.scenario,
        "standing": str(found.standing),
        "lines": [
            {
                "asked": each.asked,
                "found": each.found,
                "standing": str(each.standing),
                "reason": each.why or None,
            }
            for each in found.lines
        ],
    }


def _row(line: Promise) -> tuple[str, ...]:
    return (
        line.asked,
        line.found,
        f"{line.standing}: {line.why}" if line.why else str(line.standing),
    )

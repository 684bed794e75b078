"""The end of a file of trials on one page, for a terminal and as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Final

from vramledger.methods.trialplan.decided import FAILS, HOLDS, OPEN
from vramledger.methods.trialplan.page import ItemEnd, Known, LineKnown, Page

_SAID: Final[Mapping[str, str]] = {HOLDS: "PASS", FAILS: "FAIL", OPEN: "INCONCLUSIVE"}
_ABOUT: Final[Mapping[Known, str]] = {
    Known.MEASURED: "decided by trials on this server",
    Known.CARRIED: "not decided by a trial; the simulator's word, which no one signs for",
    Known.UNKNOWN: "neither measured nor simulated",
}
_EXITS: Final[Mapping[int, str]] = {
    0: "done", 1: "done, a line fails as it stands", 2: "refused", 3: "done, its own figures leave something open"
}  # fmt: skip


def page_text(page: Page) -> str:
    """For a terminal."""
    lines = [_headline(page)]
    for known in Known:
        here = [line for line in page.lines if line.known is known]
        lines += ["", f"{str(known).capitalize()} ({_ABOUT[known]}): {len(here) or 'none'}"]
        lines += [
            f"  {_verdict(line):<13}{line.scenario}: {line.asked}: {_told(line)}" for line in here
        ]
    lines += ["", "Trials:"]
    lines += [f"  {end.item.name}: {_end(end)}" for end in page.items]
    lines += [*_home(page), "", f"All of it is in {page.folder}."]
    return "\n".join(lines)


def page_markdown(page: Page) -> str:
    """The page that lies with the runs."""
    lines = [f"# {_headline(page)}", ""]
    for known in Known:
        here = [line for line in page.lines if line.known is known]
        lines += [f"## {str(known).capitalize()}", "", f"{_ABOUT[known].capitalize()}.", ""]
        if not here:
            lines += ["None.", ""]
            continue
        lines += ["| verdict | scenario | line | found |", "|---|---|---|---|"]
        lines += [
            f"| {_verdict(line)} | {_cell(line.scenario)} | {_cell(line.asked)} | {_cell(_told(line))} |"
            for line in here
        ]
        lines += [""]
    lines += ["## Trials", "", "| trial | folder | what became of it |", "|---|---|---|"]
    lines += [
        f"| {_cell(end.item.name)} | {'' if end.folder is None else _cell(end.folder.name)} | {_cell(_end(end))} |"
        for end in page.items
    ]
    return "\n".join([*lines, *_home(page)]) + "\n"


def _headline(page: Page) -> str:
    counts = [sum(line.known is known for line in page.lines) for known in Known]
    cut = "INTERRUPTED, so far " if page.interrupted else ""
    rehearsed = "REHEARSED on a simulated server, not measured. " if page.rehearsed else ""
    return (
        f"{rehearsed}{cut}{_SAID[page.standing]}: of {len(page.lines)} lines of the contract {counts[0]} measured here at "
        f"{page.confidence:.0%} confidence, {counts[1]} carried over, {counts[2]} unknown."
    )


def _verdict(line: LineKnown) -> str:
    if line.known is Known.MEASURED and line.decided is not None:
        return _SAID[line.decided.standing]
    if line.known is Known.CARRIED and line.expected is not None:
        return "simulated" if line.expected.holds else "sim. FAILS"
    return "unknown"


def _told(line: LineKnown) -> str:
    return "; ".join(part for part in _parts(line) if part)


def _parts(line: LineKnown) -> Iterator[str]:
    found, said = line.decided, line.expected
    if found is not None and found.found:
        yield found.found
    if found is not None and found.low is not None and found.high is not None:
        worth = f"{found.counted:,.0f} counted, worth {found.independent:,.0f} independent ones"
        yield f"{found.low:.2%} to {found.high:.2%} keep it ({worth})"
    if line.known is Known.CARRIED and said is not None:
        share = "" if said.share is None else f", {said.share:.2%} keep it"
        yield f"simulated: {'holds' if said.holds else 'fails'}{share} ({said.basis})"
    if line.why:
        yield line.why


def _end(end: ItemEnd) -> str:
    if end.code is None:
        return f"not run: {end.why}"
    said = _EXITS.get(end.code, f"exit code {end.code}")
    return f"{said}. {end.says}" if end.says else said


def _home(page: Page) -> Iterator[str]:
    if page.home is None:
        return
    yield ""
    if page.missing:
        yield f"NOT at home ({page.home}), {len(page.missing)} files: {page.refusal}. They are here: copy them before the machine goes."
    else:
        yield f"All of it is at home too: {page.home}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

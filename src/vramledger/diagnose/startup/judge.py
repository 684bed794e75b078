"""A log judged: the start failed of a cause, came up, failed later, or ends in nothing that is known."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from vramledger.diagnose.startup.account import Account, Asked, account_of
from vramledger.diagnose.startup.came_up import came_up
from vramledger.diagnose.startup.diagnosed import Diagnosed, earlier_starts
from vramledger.diagnose.startup.error import Facts, Hit, Said, amounts
from vramledger.diagnose.startup.not_known import not_known
from vramledger.diagnose.startup.phases import SERVING
from vramledger.diagnose.startup.quoted import quoted
from vramledger.diagnose.startup.scan import Scan, Scanner, Start
from vramledger.diagnose.told import Told
from vramledger.engine.launch import Launch
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.lines import LogLine, lines_of, parse_lines, read_lines
from vramledger.engine.vllm.log.startup import StartupLog, parse_startup
from vramledger.errors import BadInput, ExitCode, VramError

_SURE: Final = (0.95, 0.85, 0.6)  # by the rank of the error
_RESTS_ON: Final = (
    "the error's own sentence, which says what failed and why",
    "the kind of the error; its sentence does not say all of the cause",
    "an error that may follow from another one, which the log does not show",
)
_OTHERS: Final = 0.5
_MOST_OTHERS: Final = 4


def diagnose_file(path: Path, asked: Asked) -> Diagnosed:
    """A log file.

    Raises:
        BadInput: missing, unreadable, too large, or empty.
        UnknownName: the card that was asked for is none.
    """
    scanner = Scanner()
    log = _readings(scanner, read_lines(path), str(path))
    return judged(scanner.finish(), log, str(path), asked)


def diagnose_stream(stream: BinaryIO, where: str, asked: Asked) -> Diagnosed:
    """A log as it comes in, to its end.

    Raises:
        BadInput: it is empty.
        UnknownName: the card that was asked for is none.
    """
    scanner = Scanner()
    log = _readings(scanner, parse_lines(lines_of(stream)), where)
    return judged(scanner.finish(), log, where, asked)


def _readings(scanner: Scanner, lines: Iterable[LogLine], where: str) -> StartupLog | None:
    """The readings of vLLM, None where it is not vLLM's log; the scanner sees every line either way."""
    passing = scanner.over(lines)
    try:
        return parse_startup(passing, where)
    except BadInput:
        if scanner.lines == 0:
            raise BadInput(
                f"{where} is empty; give what the server printed from its start on."
            ) from None
        return None
    except VramError:
        return None


def judged(scan: Scan, log: StartupLog | None, where: str, asked: Asked) -> Diagnosed:
    """What was read, judged.

    Raises:
        UnknownName: the card that was asked for is none.
    """
    if asked.gpu:
        from vramledger.ledger.question import accelerator_for

        accelerator_for(asked.gpu)
    launch = None if log is None or scan.engine != "vllm" else launch_from_log(log, where)
    facts = _facts(scan, log, launch)
    causes = _causes(scan.last)
    if causes:
        return _failed(scan, causes, facts, where, asked)
    if scan.last.healthy or (scan.last.made and not scan.last.last_errors):
        return came_up(scan, facts, where, asked)
    return not_known(scan, facts, where)


def _facts(scan: Scan, log: StartupLog | None, launch: Launch | None) -> Facts:
    version = scan.version if log is None or log.version is None else log.version
    oom = next((dict(hit.groups) for hit in scan.last.hits if hit.error.id == "S15"), {})
    return Facts(scan.engine, version, scan.last.phase, log, launch, scan.last.settings, oom)


def _causes(start: Start) -> list[Hit]:
    """The errors that count, the first cause first: one cause once, and no consequence beside what it follows from."""
    hits = [hit for hit in start.hits if not start.healthy or hit.phase == SERVING]
    if start.healthy:
        hits = [hit for hit in hits if hit.error.rank < 2 or hit.error.severity == "warning"]
    elif any(hit.error.severity == "error" for hit in hits):
        hits = [hit for hit in hits if hit.error.severity == "error"]
    hits.sort(key=lambda hit: (hit.error.severity != "error", hit.error.rank, hit.line.number))
    kept: list[Hit] = []
    for hit in hits:
        same_line = any(hit.line.number == each.line.number for each in kept)
        same_cause = any(hit.error.cause == each.error.cause for each in kept)
        follows = (
            bool(kept) and hit.error.rank == 2 and hit.error.severity == kept[0].error.severity
        )
        if not (same_line or same_cause or follows):
            kept.append(hit)
    return kept[: 1 + _MOST_OTHERS]


def _failed(scan: Scan, causes: list[Hit], facts: Facts, where: str, asked: Asked) -> Diagnosed:
    first = causes[0]
    facts = replace(facts, phase=first.phase)
    said = first.error.say(first.groups, facts)
    broken = first.error.severity == "error" or not scan.last.healthy
    account = Account()
    if first.error.memory and not scan.last.healthy and scan.engine in (None, "vllm"):
        account = account_of(facts.log, facts.launch, scan.card, asked, said.change, failed=True)
    findings = [_finding(first, said, scan, account, first=True)]
    findings += [
        _finding(hit, _said(hit, facts), scan, Account(), first=False) for hit in causes[1:]
    ]
    helps, why = _memory(first, scan)
    after, why_after = _after(first, account, scan)
    return Diagnosed(
        where=where,
        scan=scan,
        version=facts.version,
        findings=tuple(findings),
        exit_code=ExitCode.DOES_NOT_HOLD if broken else ExitCode.HOLDS,
        more_memory=helps,
        why=why,
        after=after,
        why_after=why_after,
        compared=account.compared,
    )


def _said(hit: Hit, facts: Facts) -> Said:
    return hit.error.say(hit.groups, replace(facts, phase=hit.phase))


def _memory(first: Hit, scan: Scan) -> tuple[str, str]:
    if scan.last.healthy:
        return (
            "unknown",
            "The server came up; what it lacks under load a log does not say. A trial would.",
        )
    if first.error.memory:
        return (
            "yes",
            "It failed for want of memory: a card with as much more as is missing starts it unchanged.",
        )
    return "no", "It failed of something else than memory."


def _after(first: Hit, account: Account, scan: Scan) -> tuple[str, str]:
    """Whether more memory would help once the change is made."""
    if scan.last.healthy:
        return "unknown", "What the server lacks under load a log does not say."
    if account.starts_after is True:
        return (
            "no",
            "With the change it starts by our own account; for what it then lacks under load, a trial is needed.",
        )
    if account.starts_after is False:
        return (
            "yes",
            "With the change it still does not start by our own account at the pessimistic end.",
        )
    if not first.error.memory:
        return (
            "unknown",
            "Memory is taken after this error would have passed, so nothing is known of it.",
        )
    return "unknown", "Whether the change is enough was not checked against our own account."


def _rests_on(hit: Hit, account: Account, *, first: bool) -> str:
    """What the score and the confidence of a finding rest on."""
    said = _RESTS_ON[min(hit.error.rank, len(_RESTS_ON) - 1)]
    if not first:
        said += "; another error comes before it"
    if account.contradicts:
        said += "; our own account comes to another end"
    elif account.supports:
        said += "; our own account comes to the same end"
    return said


def _finding(hit: Hit, said: Said, scan: Scan, account: Account, *, first: bool) -> Told:
    times = (
        ""
        if hit.count == 1
        else f", {hit.count} times" + (" in several processes" if scan.last.processes > 1 else "")
    )
    seen = f"Line {hit.line.number}{times}: {quoted(hit.line.text)}"
    score = _SURE[min(hit.error.rank, len(_SURE) - 1)] * (1.0 if first else _OTHERS)
    supports = (seen, *said.arithmetic, *account.supports, *earlier_starts(scan, first=first))
    return Told(
        id=hit.error.id,
        severity=(hit.error.severity if scan.last.healthy else "error") if first else "warning",
        cause=hit.error.cause,
        message=said.message,
        score=score,
        confidence=score * (0.8 if account.contradicts else 1.0),
        supports=supports,
        contradicts=account.contradicts,
        unseen=(*said.unseen, *account.unseen),
        change=said.change,
        amounts=amounts(hit),
        rests_on=_rests_on(hit, account, first=first),
    )

"""A log judged: the start failed of a cause, came up, failed later, or ends in nothing that is known."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from vramledger.diagnose.startup.account import Account, Asked, account_of
from vramledger.diagnose.startup.error import Facts, Hit, Said, amounts
from vramledger.diagnose.startup.nearest import nearest_error
from vramledger.diagnose.startup.phases import BEGINNING, SERVING
from vramledger.diagnose.startup.quoted import quoted
from vramledger.diagnose.startup.scan import Scan, Scanner, Start
from vramledger.diagnose.told import Amount, Change, Told
from vramledger.engine.launch import Launch
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.lines import LogLine, lines_of, parse_lines, read_lines
from vramledger.engine.vllm.log.startup import StartupLog, parse_startup
from vramledger.errors import BadInput, ExitCode, VramError
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.ledger.measured import Comparison

HEALTHY: Final = "started"
UNKNOWN: Final = "unknown"
UNKNOWN_ERROR: Final = "S100"
UNFINISHED: Final = "S101"
_SURE: Final = (0.95, 0.85, 0.6)  # by the rank of the error
_OTHERS: Final = 0.5
_MOST_OTHERS: Final = 4
_TITLES: Final = {"vllm": "vLLM", "sglang": "SGLang"}


@frozen
class Diagnosed:
    """What a log comes to. `exit_code` 0: it started and nothing broke; 1: it failed; 3: nobody can know from this log."""

    where: str
    scan: Scan
    version: str | None
    findings: tuple[Told, ...]
    exit_code: ExitCode
    more_memory: str  # yes, no or unknown: whether more of it would have made it start
    why: str
    compared: tuple[Comparison, ...] = ()


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
        return _healthy(scan, facts, where, asked)
    return _unknown(scan, facts, where)


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
    return Diagnosed(
        where=where,
        scan=scan,
        version=facts.version,
        findings=tuple(findings),
        exit_code=ExitCode.DOES_NOT_HOLD if broken else ExitCode.HOLDS,
        more_memory=helps,
        why=why,
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


def _finding(hit: Hit, said: Said, scan: Scan, account: Account, *, first: bool) -> Told:
    times = (
        ""
        if hit.count == 1
        else f", {hit.count} times" + (" in several processes" if scan.last.processes > 1 else "")
    )
    seen = f"Line {hit.line.number}{times}: {quoted(hit.line.text)}"
    score = _SURE[min(hit.error.rank, len(_SURE) - 1)] * (1.0 if first else _OTHERS)
    supports = (seen, *said.arithmetic, *account.supports, *_earlier(scan, first=first))
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
    )


def _earlier(scan: Scan, *, first: bool) -> tuple[str, ...]:
    if not first or not scan.earlier:
        return ()
    failed = sum(not start.healthy for start in scan.earlier)
    count = len(scan.earlier)
    ended = (
        "all of them failed"
        if failed == count
        else f"{failed} of them failed"
        if failed
        else "all of them came up"
    )
    return (
        f"The log holds {count} earlier start{'s' if count > 1 else ''} ({ended}); the last one is judged.",
    )


def _healthy(scan: Scan, facts: Facts, where: str, asked: Asked) -> Diagnosed:
    account = account_of(facts.log, facts.launch, scan.card, asked, None, failed=False)
    engine = _TITLES.get(scan.engine or "", scan.engine) or "The server"
    named = f"{engine} {facts.version}" if facts.version and scan.engine else engine
    supports = (
        *(
            f"{label}: {_figure(value)} {unit} (line {line})."
            for label, unit, value, line in scan.last.figures
        ),
        *_printed(facts),
        *account.supports,
    )
    told = Told(
        id="S00",
        severity="silent",
        cause=HEALTHY,
        message=f"{named} came up{', and was later shut down in order' if scan.last.stopping else ''}; no known error is in the log.",
        score=0.95,
        confidence=0.95 if not account.contradicts else 0.8,
        supports=(*supports, *_earlier(scan, first=True)),
        contradicts=account.contradicts,
        unseen=account.unseen
        if scan.last.healthy
        else (
            "Whether the server before the engine listened; the log ends before that.",
            *account.unseen,
        ),
        amounts=tuple(
            Amount(label, value, unit, Basis.MEASURED, f"line {line} of the log")
            for label, unit, value, line in scan.last.figures
        ),
    )
    why = "The server came up; what it lacks under load a log does not say. A trial would."
    return Diagnosed(
        where, scan, facts.version, (told,), ExitCode.HOLDS, "unknown", why, account.compared
    )


_READINGS: Final = (
    ("weights_gib", "Weights", "GiB"),
    ("activation_gib", "Activation peak", "GiB"),
    ("kv_cache_gib", "Memory for the KV cache", "GiB"),
    ("cuda_graph_gib", "CUDA graphs", "GiB"),
    ("kv_tokens", "KV cache", "tokens"),
    ("max_concurrency", "Requests of full length at once", ""),
)


def _printed(facts: Facts) -> tuple[str, ...]:
    """Memory lines of vLLM, each as a sentence with its line."""
    if facts.log is None:
        return ()
    found = []
    for name, label, unit in _READINGS:
        readings = facts.log.all(name)
        if readings:
            last = readings[-1]
            found.append(
                f"{label}: {_figure(last.value)}{f' {unit}' if unit else ''} (line {last.line.number})."
            )
    return tuple(found)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"


def _unknown(scan: Scan, facts: Facts, where: str) -> Diagnosed:
    """A log that ends in nothing that is known: its last error, and what would be needed."""
    start = scan.last
    supports = [f"Line {line.number}: {quoted(line.text)}" for line in start.last_errors[-3:]]
    change, unseen = None, ["Whether it failed or was still starting."]
    if start.last_errors:
        last = start.last_errors[-1]
        near = nearest_error(last.text)
        message = (
            f"The log ends in an error that is not known, while {start.phase}: {quoted(last.text)}"
        )
        unseen = ["What this error means; it is not in the list of known errors."]
        if near is not None:
            supports.append(
                f"The nearest known error is {near.id} ({near.cause.replace('-', ' ')}), which it may not be: {quoted(near.samples[0])}"
            )
    elif scan.engine is None and start.phase == BEGINNING:
        message = "No line of the log is known: neither an engine's start nor an error."
        change = Change(
            "give the log from the engine's first line on (docker logs NAME, kubectl logs --previous POD, journalctl -u UNIT)"
        )
    else:
        message = f"The log ends while the engine is {start.phase}; it has neither an error nor a server that is ready."
        change = Change(
            "give the rest of the log; if there is none, look for a kill: dmesg, kubectl describe pod, docker inspect"
        )
    told = Told(
        UNKNOWN_ERROR if start.last_errors else UNFINISHED,
        "warning",
        UNKNOWN,
        message,
        0.2,
        0.2,
        tuple(supports),
        (),
        tuple(unseen),
        change,
    )
    return Diagnosed(
        where,
        scan,
        facts.version,
        (told,),
        ExitCode.CANNOT_KNOW,
        "unknown",
        "Why it did not start is not known.",
    )

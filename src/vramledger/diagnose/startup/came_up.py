"""A log of a server that came up: what it printed of its memory."""

from typing import Final

from vramledger.diagnose.startup.account import Asked, account_of
from vramledger.diagnose.startup.diagnosed import STARTED, Diagnosed, earlier_starts
from vramledger.diagnose.startup.error import Facts
from vramledger.diagnose.startup.scan import Scan
from vramledger.diagnose.told import Amount, Told
from vramledger.errors import ExitCode
from vramledger.evidence import Basis

_TITLES: Final = {"vllm": "vLLM", "sglang": "SGLang"}


def came_up(scan: Scan, facts: Facts, where: str, asked: Asked) -> Diagnosed:
    """A log in which the server came up and nothing broke, with its memory lines."""
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
        cause=STARTED,
        message=f"{named} came up{', and was later shut down in order' if scan.last.stopping else ''}; no known error is in the log.",
        score=0.95,
        confidence=0.95 if not account.contradicts else 0.8,
        supports=(*supports, *earlier_starts(scan, first=True)),
        contradicts=account.contradicts,
        unseen=account.unseen
        if scan.last.healthy
        else (
            "Whether the server before the engine listened; the log ends before that.",
            *account.unseen,
        ),
        rests_on="a line that only a server prints that is ready, and no known error after it",
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

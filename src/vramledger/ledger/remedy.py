"""Which change makes a launch start that does not, or that none does."""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.finding import Finding, Severity
from vramledger.errors import VramError
from vramledger.ledger.account import Assessment, assess
from vramledger.ledger.case import Case
from vramledger.ledger.solve import Load, solve

REMEDY_ID: Final = "A16"
_PHASES: Final = frozenset(
    {"start-up check", "profiling", "KV cache", "full-length request", "graph capture"}
)
_SHARES: Final = ("0.85", "0.90", "0.92", "0.95", "0.97")
_FEWEST_TOKENS: Final = 1024
_FEWEST_ROWS: Final = 8  # fewer requests at once are no useful service
_LENGTH: Final = "max-model-len"
_ONE_IMAGE: Final = '{"image": 1, "video": 0}'

Change = dict[str, str]  # flag to value


def remedy(case: Case) -> Finding | None:
    """What makes the case start: each setting alone, then all together.

    A setting comes with a shorter limit where it must. None where the case starts, or fails for
    another reason than memory.
    """
    found = _assess(case, {})
    if found is None or found.fits or found.verdict.phase not in _PHASES:
        return None
    single = [change for knob in _knobs(case) for change in _mildest(case, knob)]
    longest = solve(case, _LENGTH, Load()) if case.model.cache_layers else None
    if longest is not None and longest.value is not None:
        single.append({_LENGTH: str(longest.value)})
    if single:
        return _finding(f"It starts with any of these: {'; '.join(map(_flags, single))}.")
    together = _all_at_once(case)
    if together is not None:
        return _finding(f"No single setting makes it start; together these do: {together}.")
    return _finding(
        "No max_num_seqs, batch, length, image limit or utilization makes it start: it does not "
        "fit at a useful concurrency. Take more GPUs or a smaller precision."
    )


def _finding(message: str) -> Finding:
    return Finding(REMEDY_ID, Severity.SILENT, message, source="the account with flags changed")


def _knobs(case: Case) -> Iterator[list[Change]]:
    """One list a setting but the length, the mildest change first."""
    deployment = case.deployment()
    share = deployment.gpu_memory_utilization.value
    nearest = sorted(_SHARES, key=lambda text: abs(float(text) - share))
    yield [{"gpu-memory-utilization": text} for text in nearest if float(text) != share]
    rows = deployment.max_num_seqs.value
    yield [{"max-num-seqs": str(n)} for n in _halves(rows, _FEWEST_ROWS)]
    if deployment.enable_chunked_prefill.value:
        least = max(_FEWEST_TOKENS, rows)
        tokens = deployment.max_num_batched_tokens.value
        yield [{"max-num-batched-tokens": str(n)} for n in _halves(tokens, least)]
    if deployment.model.towers:
        yield [{"limit-mm-per-prompt": _ONE_IMAGE}]


def _halves(value: int, least: int) -> list[int]:
    found = []
    while value // 2 >= least:
        value //= 2
        found.append(value)
    return found


def _mildest(case: Case, knob: list[Change]) -> list[Change]:
    """The mildest change that is enough, or the mildest that is with a shorter limit."""
    shortened: list[Change] = []
    for change in knob:
        found = _assess(case, change)
        if found is not None and found.fits:
            return [change]
        if found is not None and not shortened and (found.startup.longest or 0) >= _FEWEST_TOKENS:
            shorter = {**change, _LENGTH: str(found.startup.longest)}
            then = _assess(case, shorter)
            shortened = [shorter] if then is not None and then.fits else []
    return shortened


def _all_at_once(case: Case) -> str | None:
    """The strongest change of every setting at once, as flags; None where even that fails."""
    strongest: Change = {_LENGTH: str(_FEWEST_TOKENS)}
    for knob in _knobs(case):
        strongest.update(knob[-1] if knob else {})
    for share in _SHARES:
        change = {**strongest, "gpu-memory-utilization": share}
        found = _assess(case, change)
        if found is not None and found.fits:
            return _flags(change)
    return None


def _flags(change: Change) -> str:
    quoted = {name: f"'{v}'" if " " in v else v for name, v in change.items()}
    return " ".join(f"--{name} {value}" for name, value in quoted.items())


def _assess(case: Case, change: Change) -> Assessment | None:
    """The case's assessment with flags set; None where the version does not take them."""
    for name, value in change.items():
        case = case.with_flag(name, value)
    try:
        return assess(case.deployment(), memory=case.memory)
    except VramError:
        return None

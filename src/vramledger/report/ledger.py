"""A ledger for a terminal: the verdict, a bar a rank, tokens, the rows in three groups, findings."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from vramledger.evidence import Figure, Unknown, total
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Account, Ledger, RankLedger, Row

_BAR: Final = 60
_MARKS: Final = {
    "weights": "█",
    "draft": "▓",
    "lora": "▓",
    "activation": "▒",
    "encoder": "▒",
    "non_torch": "░",
    "cuda_graph": "░",
    "kv_cache": "=",
    "margin": ".",
}


@frozen
class RankGroup:
    """Ranks whose rows are equal, shown once."""

    numbers: tuple[int, ...]
    rank: RankLedger

    @property
    def title(self) -> str:
        numbers = ", ".join(_runs(self.numbers))
        stage = f" (pipeline stage {self.rank.pp_stage})" if self.rank.pp_stage else ""
        return f"rank{'s' if len(self.numbers) > 1 else ''} {numbers}{stage}"


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Three or more that follow each other as ``0-15``, the others alone."""
    for _, members in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in members]
        if len(run) > 2:
            yield f"{run[0]}-{run[-1]}"
        else:
            yield from map(str, run)


def to_text(ledger: Ledger) -> str:
    """The whole account as lines of text, no colour."""
    groups = rank_groups(ledger)
    lines = [_verdict(ledger), *_identity(ledger), ""]
    lines += [line for group in groups for line in _bar(group)]
    lines += ["", *_tokens(ledger)]
    for group in groups:
        lines += ["", *_rows(group)]
    lines += _host(ledger)
    lines += _findings(ledger)
    lines += _levers(ledger)
    return "\n".join(lines)


def rank_groups(ledger: Ledger) -> tuple[RankGroup, ...]:
    """Equal ranks together, in order."""
    ordered = sorted(ledger.ranks, key=lambda rank: rank.rank)
    grouped = groupby(ordered, key=lambda rank: rank.rows)
    found = []
    for _, members in grouped:
        same = list(members)
        found.append(RankGroup(tuple(rank.rank for rank in same), same[0]))
    return tuple(found)


def _verdict(ledger: Ledger) -> str:
    word = "FITS" if ledger.fits else "DOES NOT FIT"
    if ledger.only_starts:
        word = "DOES NOT HOLD"
    if ledger.deployment.model.weights_unknown:
        return f"CANNOT KNOW: {ledger.deployment.model.weights_unknown} With those: {ledger.reason}"
    if isinstance(ledger.tokens, Unknown) and ledger.deployment.model.cache_unknown:
        word = "CANNOT KNOW"
    speculation = ledger.deployment.speculation
    if ledger.fits and speculation and speculation.uncounted:
        return f"CANNOT KNOW: {ledger.reason[:-1]}, without the draft model, which is not counted."
    return f"{word}: {ledger.reason}"


def _identity(ledger: Ledger) -> list[str]:
    deployment = ledger.deployment
    layout = deployment.layout
    spread = f"TP {layout.tp}, PP {layout.pp}" + (f", DP {layout.dp}" if layout.dp > 1 else "")
    what = f"{deployment.model.id} on {layout.gpus} x {deployment.accelerator.name}"
    lines = [f"{what}, {spread}, vLLM {deployment.version}"]
    return [*lines, *deployment.remarks]


def _bar(group: RankGroup) -> list[str]:
    rank = group.rank
    whole = max(rank.total.value, rank.budget.value)
    shown = [(row.key, row.figure.value) for row in rank.rows if row.in_budget]
    cells = "".join(
        _MARKS.get(key, "?") * round(_BAR * min(1.0, max(0.0, size) / whole)) for key, size in shown
    )
    outside = "~" * max(0, _BAR - len(cells))
    legend = "█ weights ▒ activations ░ non-torch, graphs = KV cache ~ outside"
    return [
        f"{group.title}: [{cells[:_BAR]}{outside}] {rank.total.value:.2f} GiB",
        f"  budget {_gib(rank.budget)}, outside it {_gib(rank.outside)} ({legend})",
    ]


def _tokens(ledger: Ledger) -> list[str]:
    if isinstance(ledger.tokens, Unknown):
        return [f"KV cache: {ledger.tokens.reason}."]
    pool = ledger.pool
    lines = [
        f"KV cache as the engine prints it: {_count(ledger.tokens)} tokens ({ledger.tokens.source})"
    ]
    if pool is not None:
        lines.append(
            f"  {pool.num_blocks} blocks of {pool.layout.block_size} tokens "
            f"({max(pool.layout.bytes_per_block)} bytes), {pool.layout.cache_dtype}; "
            f"{pool.max_concurrency:.2f} requests of {pool.max_model_len} tokens at once"
        )
    if isinstance(ledger.capacity_tokens, Figure):
        lines.append(f"  {_count(ledger.capacity_tokens)} {ledger.capacity_tokens.source}")
    return lines


def _rows(group: RankGroup) -> Iterator[str]:
    yield f"{group.title:<36}{'GiB':>9}{'low':>9}{'high':>9}  basis"
    for account in Account:
        rows = [row for row in group.rank.rows if row.account is account]
        if not rows:
            continue
        inside = total((row.figure for row in rows if row.in_budget), str(account))
        yield f"{account:<36}{_cells(inside)}"
        yield from (_row(row) for row in rows if not _is_empty_margin(row))


def _row(row: Row) -> str:
    place = "" if row.in_budget else ", outside the budget"
    note = f"; {row.note}" if row.note else ""
    return f"  {row.label:<34}{_cells(row.figure)}  {row.figure.basis}{place}{note}"


def _is_empty_margin(row: Row) -> bool:
    figure = row.figure
    return row.key == "margin" and figure.is_sharp and figure.value == 0


def _cells(figure: Figure) -> str:
    return f"{figure.value:>9.2f}{figure.low:>9.2f}{figure.high:>9.2f}"


def _host(ledger: Ledger) -> list[str]:
    if not ledger.host:
        return []
    rows = [f"  {row.label:<34}{_cells(row.figure)}  {row.note}" for row in ledger.host]
    return ["", "memory of the server, GiB", *rows]


def _findings(ledger: Ledger) -> Iterable[str]:
    if not ledger.findings:
        return []
    lines = [f"  {f.id} {f.severity}: {f.message}" for f in ledger.findings]
    return ["", "findings", *lines]


def _levers(ledger: Ledger) -> Iterable[str]:
    if not ledger.levers:
        return []
    lines = [
        f"  {lever.change:<44}{lever.effect_gib:>+8.2f} GiB {lever.effect_tokens:>+12,} tokens"
        for lever in ledger.levers
    ]
    return ["", "what would change it", *lines]


def _gib(figure: Figure) -> str:
    if figure.is_sharp:
        return f"{figure.value:.2f} GiB"
    return f"{figure.value:.2f} GiB ({figure.low:.2f} to {figure.high:.2f})"


def _count(figure: Figure) -> str:
    if figure.is_sharp:
        return f"{figure.value:,.0f}"
    return f"{figure.value:,.0f} ({figure.low:,.0f} to {figure.high:,.0f})"

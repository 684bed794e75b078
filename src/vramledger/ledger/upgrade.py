"""What the newest known version would make of the same launch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from vramledger.engine.finding import Finding, Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.versions import FAMILIES
from vramledger.errors import VramError
from vramledger.evidence import Unknown
from vramledger.ledger.account import Assessment, assess
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.token_cost import cost_sentence, token_cost
from vramledger.units import format_gib

UPGRADE_ID: Final = "A09"
_LEAST_GIB: Final = 0.01
_ROWS: Final = {
    "weights": "weights",
    "activation": "activation peak",
    "encoder": "multimodal encoder",
    "non_torch": "non-torch memory",
    "cuda_graph": "graph memory deducted from the budget",
}


def account(case: Case) -> Ledger:
    """The case's ledger with the findings that other accounts settle: a remedy, an upgrade.

    Raises:
        BadInput: the layout or a value is not possible for this model.
    """
    ledger = case.ledger()
    more = (_remedy(case, ledger), upgrade(case, ledger))
    added = tuple(finding for finding in more if finding is not None)
    return replace(ledger, findings=(*ledger.findings, *added))


def _remedy(case: Case, ledger: Ledger) -> Finding | None:
    if ledger.fits:
        return None
    from vramledger.ledger.remedy import remedy

    return remedy(case)


def upgrade(case: Case, now: Ledger) -> Finding | None:
    """What the newest version changes, None where it is in use already or nothing changes."""
    newest = FAMILIES[-1]
    if now.deployment.rules.family == newest:
        return None
    try:
        then = assess(replace(case, version=newest).deployment())
    except VramError as error:
        return _finding(f"vLLM {newest} does not take this launch: {error}", None, None)
    if not then.fits:
        return _finding(f"On vLLM {newest} this launch does not start: {then.reason}", None, None)
    before, after = now.tokens, then.tokens
    if isinstance(before, Unknown) or isinstance(after, Unknown) or not before.value:
        return None
    tokens = int(after.value) - int(before.value)
    gib = min(s.left.value for s in then.stages) - min(r.row("kv_cache").value for r in now.ranks)
    causes = [
        *_cost(now, then),
        *_settings(now.deployment, then.deployment),
        *_rows(now, then),
    ]
    if not causes:
        return None
    message = (
        f"On vLLM {newest} the same launch prints {int(after.value):,} KV tokens instead of "
        f"{int(before.value):,} ({tokens / before.value:+.1%}) and keeps {format_gib(abs(gib))} "
        f"{'more' if gib > 0 else 'less'} cache on the tightest rank: {'; '.join(causes)}."
    )
    return _finding(message, gib, tokens)


def _finding(message: str, gib: float | None, tokens: int | None) -> Finding:
    return Finding(
        UPGRADE_ID, Severity.SILENT, message, gib, tokens, "the rules of both version families"
    )


def _settings(now: Deployment, then: Deployment) -> Iterator[str]:
    if now.rules.v1 != then.rules.v1:
        yield "the V1 engine replaces V0"
    if now.rules.token_figure is not then.rules.token_figure:
        yield f"the printed figure is {then.rules.token_figure}, not {now.rules.token_figure}"
    for name in (
        "gpu_memory_utilization",
        "max_model_len",
        "max_num_seqs",
        "max_num_batched_tokens",
        "enable_chunked_prefill",
        "enable_prefix_caching",
    ):
        old, new = getattr(now, name).value, getattr(then, name).value
        if old != new:
            yield f"{name} defaults to {new}, not {old}"


def _cost(now: Ledger, then: Assessment) -> Iterator[str]:
    """The bytes of a token, where they change, and what decides them."""
    old, new = token_cost(now.pool), token_cost(then.pools.expected)
    if old is not None and new is not None and old.differs(new):
        yield cost_sentence(old, new)


def _rows(now: Ledger, then: Assessment) -> Iterator[str]:
    """Rows of the first rank that move, inside the budget."""
    rank, stage = now.ranks[0], then.stages[0]
    for key, label in _ROWS.items():
        old = sum(row.figure.value for row in rank.rows if row.key == key and row.in_budget)
        change = stage.figure_inside(key) - old
        if abs(change) >= _LEAST_GIB:
            yield f"{label} {'+' if change > 0 else '-'}{format_gib(abs(change))}"

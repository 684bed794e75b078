"""The table of context limits, as text and JSON."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.report.number import rounded
from vramledger.report.table import table
from vramledger.sizing.limit_rows import ContextLimits, LimitRow

_HEAD: Final = (
    "limit", "refused", "cut", "asked for more", "in flight", "replicas", "KV pool GiB", "cost GiB",
    "one request",
)  # fmt: skip
_RIGHT: Final = frozenset(range(len(_HEAD)))


def limits_text(found: ContextLimits) -> list[str]:
    """The proposal and its reason; the table where it was asked for."""
    lines = [_proposal(found), _cost(found)]
    if not found.full:
        return [*lines, "Add --limits for the table of limits."]
    rows = [_row(row) for row in found.rows]
    return [*lines, "", *table(_HEAD, rows, _RIGHT), *_reading(found)]


def limits_json(found: ContextLimits | None) -> dict[str, Any] | None:
    """The table as an object; None where there is none."""
    if found is None:
        return None
    proposed = found.proposed
    return {
        "gpu": found.gpu,
        "tp": found.layout.tp,
        "pp": found.layout.pp,
        "precision": found.weights,
        "kv_dtype": found.kv,
        "in_use_tokens": found.in_use,
        "longest_tokens": found.longest,
        "allowed_share": rounded(found.allowed, 6),
        "counted": found.counted,
        "costs_nothing": found.costs_nothing,
        "proposed_tokens": None if proposed is None else proposed.limit,
        "turned_away_share": None if proposed is None else rounded(proposed.turned.away, 6),
        "limits": [_row_json(row) for row in found.rows],
    }


def _proposal(found: ContextLimits) -> str:
    proposed, share = found.proposed, f"{found.allowed:.2%}"
    longest = f"the longest request has {found.longest:,} tokens"
    if proposed is None:
        most = "somebody away, and none may be" if found.allowed == 0 else f"more than {share} away"
        return f"No context limit is proposed: every one that the engine holds turns {most} ({longest})."
    same = proposed.limit == found.in_use
    named = f"{'Context' if same else 'Proposed context'} limit: --max-model-len {proposed.limit}"
    named += ", as in the launch above," if same else ""
    sized = "" if same else f"; the launch above was sized with {found.in_use}"
    away = proposed.turned.away
    if away == 0 and (same or found.allowed == 0):
        least = "" if same else ", the smallest of the table that"
        return f"{named}{least} turns nobody away ({longest}){sized}."
    if away == 0:
        whom = f"turns nobody away ({longest})"
    else:
        whom = (
            f"turns away {away:.2%} of the requests, those of {proposed.limit + 1:,} to "
            f"{found.longest:,} tokens of input and output"
        )
    return (
        f"{named} {whom}; it is the smallest of the table that does not turn away more than may be "
        f"(up to {share} may be){sized}."
    )


def _cost(found: ContextLimits) -> str:
    where = _where(found)
    serving = [row for row in found.rows if row.serves]
    if not serving:
        return f"On {where} none of the limits is held."
    if found.costs_nothing:
        return (
            f"On {where} a higher limit costs no memory: blocks are given out as requests grow; it "
            f"must only hold one request of the full limit ({_share(serving[-1])} of the pool at "
            f"{serving[-1].limit:,} tokens)."
        )
    last = serving[-1]
    return (
        f"On {where} {last.limit:,} tokens cost {last.cost_gib or 0.0:.2f} GiB of KV pool a GPU against "
        f"{serving[0].limit:,}."
    )


def _where(found: ContextLimits) -> str:
    stages = f" PP{found.layout.pp}" if found.layout.pp > 1 else ""
    cache = "" if found.kv == "auto" else f", {found.kv} KV"
    return f"{found.gpu} (TP{found.layout.tp}{stages}, {found.weights}{cache})"


def _share(row: LimitRow) -> str:
    return "" if row.one_share is None else f"{row.one_share:.0%}"


def _row(row: LimitRow) -> tuple[str, ...]:
    turned = row.turned
    shares = (
        f"{row.limit:,}",
        f"{turned.refused:.2%}",
        f"{turned.cut:.2%}",
        "not known" if turned.over_budget is None else f"{turned.over_budget:.2%}",
    )
    if not row.serves:
        return (*shares, "-", "-", "-", "-", "-")
    return (
        *shares,
        f"{row.held:,}",
        f"{row.replicas:,}",
        f"{row.pool_gib:.2f}",
        "nothing" if row.costs_nothing else f"{row.cost_gib:.2f}",
        _share(row),
    )


def _reading(found: ContextLimits) -> Iterator[str]:
    basis = "counts of the recorded requests" if found.counted else "of the lengths, at most"
    yield (
        f"Shares are {basis}; in flight: requests one replica holds at 95% of moments, of those let "
        "through; one request: what a request of the full limit takes of the pool."
    )
    for row in found.rows:
        if not row.serves:
            yield f"{row.limit:,} is not held: {row.reason}"


def _row_json(row: LimitRow) -> dict[str, Any]:
    turned = row.turned
    return {
        "limit_tokens": row.limit,
        "refused_share": rounded(turned.refused, 6),
        "cut_share": rounded(turned.cut, 6),
        "over_budget_share": rounded(turned.over_budget, 6),
        "counted": turned.counted,
        "serves": row.serves,
        "reason": row.reason or None,
        "requests_held": row.held,
        "replicas": row.replicas,
        "kv_pool_gib": rounded(row.pool_gib),
        "cost_gib": rounded(row.cost_gib),
        "full_request_share": rounded(row.one_share),
    }

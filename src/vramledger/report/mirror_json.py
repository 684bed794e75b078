"""A mirror as the object that ``vram trial shadow --mirror --json`` prints and ``-o`` writes."""

from typing import Any

from vramledger.methods.mirror.latency import PERCENTS, Latency
from vramledger.methods.mirror.result import Mirrored
from vramledger.methods.mirror.switch import Switch
from vramledger.report.estimate_json import DIGITS, estimate
from vramledger.report.number import rounded
from vramledger.report.shadow_json import BLOCKS, basis_of, shadow_json


def mirror_json(found: Mirrored) -> dict[str, Any]:
    """The keys of every comparison, and ``mirror``."""
    basis = basis_of(found.shadow)
    return {**shadow_json(found.shadow), "mirror": _mirror(found, basis)}


def _mirror(found: Mirrored, basis: str) -> dict[str, Any]:
    traffic = found.traffic
    return {
        "share": found.share,
        "asked_s": found.asked_s,
        "seconds": rounded(found.seconds),
        "traffic": {
            "requests": traffic.requests,
            "comparable": traffic.comparable,
            "drawn": traffic.drawn,
            "statuses": {str(status): count for status, count in sorted(traffic.statuses.items())},
            "unreached": dict(traffic.unreached),
            "unseen_connections": traffic.lost_sight,
        },
        "put": found.put,
        "skipped": dict(found.skipped),
        "aborted_by_client": found.aborted,
        "unreadable": dict(found.unreadable),
        "unfinished": found.unfinished,
        "compared": found.compared,
        "compared_greedy": found.greedy,
        "kept": found.kept,
        "outcomes": dict(found.outcomes),
        "failed_by_b": estimate(found.failed_by_b, basis, f"of A's answers; {BLOCKS}"),
        "finish_same": estimate(found.finish_same, basis, BLOCKS),
        "finishes": {"a": dict(found.finishes_a), "b": dict(found.finishes_b)},
        "lengths": _lengths(found, basis),
        "latencies": {each.name: _latency(each, basis) for each in found.latencies},
        "slowed_by_client": found.slowed,
        "added_s": {
            **estimate(found.added.added, basis, "median of paired questions, through less direct; order statistics, 95 %"),
            "pairs": found.added.pairs,
            "direct_s": rounded(found.added.direct_s, DIGITS),
            "through_s": rounded(found.added.through_s, DIGITS),
        },
        "switch": _switch(found.switch),
    }  # fmt: skip


def _lengths(found: Mirrored, basis: str) -> dict[str, Any]:
    lengths = found.lengths
    return {
        "unit": lengths.unit,
        "requests": lengths.requests,
        "a_mean": rounded(lengths.a),
        "b_mean": rounded(lengths.b),
        "difference": estimate(lengths.longer, basis, f"paired, B less A; {BLOCKS}"),
    }


def _latency(found: Latency, basis: str) -> dict[str, Any]:
    return {
        "requests": found.requests,
        **{
            side: {f"p{percent}": rounded(value, DIGITS) for percent, value in zip(PERCENTS, told, strict=False)}
            for side, told in (("a", found.a), ("b", found.b))
        },
        "ratio": estimate(found.ratio, basis, f"median of B over A by request; {BLOCKS}"),
    }  # fmt: skip


def _switch(found: Switch) -> dict[str, Any]:
    return {
        "within": found.within,
        "share": found.share,
        "duration_s": rounded(found.duration_s),
        "enough": found.enough,
        "reason": found.reason or None,
        "needs": [
            {
                "figure": each.name,
                "have": each.have,
                "half_width": rounded(each.half, DIGITS),
                "needed": each.needed,
                "per_s": rounded(each.per_s, DIGITS),
            }
            for each in found.needs
        ],
        "offers": [
            {"share": each.share, "seconds": rounded(each.seconds)} for each in found.offers
        ],
    }

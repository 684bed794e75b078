"""One request of full length against the KV cache: what is missing, and the length that fits."""

from collections.abc import Mapping
from math import floor
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number
from vramledger.diagnose.startup.more_room import more_share
from vramledger.diagnose.told import Change
from vramledger.units import GIB, KIB

_BLOCK: Final = 16


def one_request(groups: Mapping[str, str], facts: Facts) -> Said:
    """One request of full length needs more KV cache than there is."""
    length, needed, there = (
        number(groups.get(name)) for name in ("len_tokens", "needed_gib", "there_gib")
    )
    stated = number(groups.get("largest_tokens"))
    if length is None or needed is None or there is None:
        return Said("One request of max_model_len does not fit into the KV cache.")
    fits = int(stated) if stated else largest_length(length, needed, there)
    said = [f"A request of {length:,.0f} tokens needs {needed:g} GiB of KV cache and {there:g} GiB are there: {max(needed - there, 0):.2f} GiB are missing on each GPU."]  # fmt: skip
    if needed > 0.05:
        said.append(f"That is {needed * GIB / KIB / length:.1f} KiB a token on each GPU.")
    if fits <= 0:
        return Said(
            "Nothing is left for the KV cache, so no length fits.",
            tuple(said),
            more_share(facts, needed - there),
        )
    said.append(_length_sentence(fits, stated=stated is not None))
    share = more_share(facts, needed - there)
    if share is not None:
        said.append(
            f"To keep the length, {share.text} would close the gap instead, if that memory is free at the start."
        )
    change = Change(f"--max-model-len {fits}", "max-model-len", str(fits)) if fits > 0 else share
    return Said(
        f"One request of max_model_len ({length:,.0f} tokens) does not fit into the KV cache.",
        tuple(said),
        change,
    )


def _length_sentence(fits: int, *, stated: bool) -> str:
    if stated:
        return f"By the engine's own estimate {fits:,} tokens fit."
    return f"By proportion {fits:,} tokens fit; with sliding windows or recurrent state it can be more or less."


def largest_length(length: float, needed: float, there: float) -> int:
    """Tokens that fit by proportion, in whole blocks of 16."""
    if needed <= 0 or there <= 0:
        return 0
    return floor(length * min(there / needed, 1.0) / _BLOCK) * _BLOCK


def one_request_by_tokens(groups: Mapping[str, str], _: Facts) -> Said:
    fits = int(number(groups["kv_tokens"]) or 0)
    length = number(groups["len_tokens"]) or 0
    change = Change(f"--max-model-len {fits}", "max-model-len", str(fits)) if fits else None
    said = (
        f"A request of max_model_len has {length:,.0f} tokens and the KV cache holds {fits:,}.",
    )
    return Said(
        f"One request of max_model_len ({length:,.0f} tokens) does not fit into the KV cache.",
        said,
        change,
    )

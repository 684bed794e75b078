"""Which differences follow from another one, and so are no change of their own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from vramledger.compare.difference import Difference, Kind
from vramledger.compare.fields import ARGUMENT, POOL, WITH_MODEL
from vramledger.compare.resolution import default_is, explained, pool_prediction, same_cache
from vramledger.compare.told import Told

_LOAD: Final = frozenset(
    {"workload_sha256", "scenario", "seed", "rate_scale", "closed", "load.duration_s", "load.prompts.own"}
)  # fmt: skip
_BRINGS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("engine", frozenset({"engine_version"})),
    ("model", WITH_MODEL),
    ("model_revision", frozenset({"weights_sha256"})),
    ("chat_template", frozenset({"input_tokens"})),
    ("gpu", frozenset({"gpu_uuids"})),
    *((name, frozenset({"arrivals", "requests_offered"})) for name in sorted(_LOAD)),
    *((name, frozenset({"output_tokens_asked", "input_tokens"})) for name in ("seed", "workload_sha256")),
)  # fmt: skip
_MOVES_POOL: Final = frozenset({"engine", "engine_version", "model", "model_revision", "weights_sha256", "gpu", "driver", "origin"})  # fmt: skip
_CACHE: Final = "--kv-cache-dtype"
_DERIVED_FIRST: Final = (
    "--max-num-batched-tokens", "--block-size", "--async-scheduling", "--enable-prefix-caching", "--max-num-seqs",
    "--max-model-len", "--gpu-memory-utilization",
)  # fmt: skip


def with_consequences(a: Told, b: Told, found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same differences, those that follow from a change marked so.

    What belongs to another thing by its nature follows from it (the weights of another model); an argument follows where
    the engine itself makes both values of the other arguments; a KV pool follows where the ledger has it move as it did.
    """
    kept = [each for each in (_settled(one, a, b) for one in found) if each is not None]
    kept = _by_nature(kept)
    kept = _by_resolution(kept, a, b)
    return tuple(_pool(each, kept, a, b) for each in kept)


def _settled(found: Difference, a: Told, b: Told) -> Difference | None:
    """An argument that one side alone tells is none where the other side has the same by default."""
    if not found.name.startswith(ARGUMENT):
        return found
    if found.a is not None and found.b is not None:
        return None if found.name == _CACHE and same_cache(a, b) else found
    silent, value = (a, found.b) if found.a is None else (b, found.a)
    return None if default_is(found.name, silent, value) else found


def _by_nature(found: list[Difference]) -> list[Difference]:
    changed = {each.name for each in found if each.kind is Kind.CHANGE}
    causes = {
        name: cause for cause, brought in reversed(_BRINGS) if cause in changed for name in brought
    }
    titles = {each.name: each.title for each in found}
    return [
        replace(each, kind=Kind.FOLLOWS, why=f"it follows from the {titles[causes[each.name]]}")
        if each.kind is Kind.CHANGE and each.name in causes
        else each
        for each in found
    ]


def _by_resolution(found: list[Difference], a: Told, b: Told) -> list[Difference]:
    """Arguments that nobody gave, the likeliest to be derived first; at least one change must stay to explain them."""
    changes = [each for each in found if each.kind is Kind.CHANGE and each.name not in POOL]
    order = [name for name in _DERIVED_FIRST if any(each.name == name for each in changes)]
    follows: set[str] = set()
    for name in order:
        if len(changes) - len(follows) > 1 and explained(name, a, b, follows):
            follows.add(name)
    why = "the engine derives it from the other arguments"
    return [
        replace(each, kind=Kind.FOLLOWS, why=why) if each.name in follows else each
        for each in found
    ]


def _pool(each: Difference, found: Sequence[Difference], a: Told, b: Told) -> Difference:
    if each.name not in POOL or each.kind is not Kind.CHANGE:
        return each
    movers = [
        one
        for one in found
        if one.kind is Kind.CHANGE and one.name not in POOL and _moves_pool(one.name)
    ]
    if not movers:
        return replace(each, why="nothing else that differs moves the KV pool")
    said = pool_prediction(a, b, float(each.b) / float(each.a)) if each.a else None
    named = ", ".join(one.title for one in movers)
    if said is None:
        return replace(each, kind=Kind.FOLLOWS, why=f"it follows from {named}; the ledger cannot check that")  # fmt: skip
    if said.agree:
        return replace(each, kind=Kind.FOLLOWS, why=f"it follows from {named}: the ledger has it at {said.predicted:.3g} times A's, and {said.seen:.3g} was seen")  # fmt: skip
    return replace(each, why=f"{named} explains {said.predicted:.3g} times A's by the ledger, and {said.seen:.3g} was seen")  # fmt: skip


def _moves_pool(name: str) -> bool:
    return name.startswith(ARGUMENT) or name in _MOVES_POOL

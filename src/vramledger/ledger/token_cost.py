"""What one token costs in the cache, and why: element type, block size, bytes per block, groups."""

from typing import Final

from vramledger.engine.kv import KvPool
from vramledger.frozen import frozen

_SAME: Final = 0.005  # relative; below it whole blocks account for the difference


@frozen
class TokenCost:
    """Bytes of the pool for each token of the printed figure, on the GPU that bears most.

    `facts` are what decides them, by name, as text.
    """

    bytes_per_token: float
    facts: dict[str, str]

    def differs(self, other: "TokenCost") -> bool:
        """Whether a token costs more or less than there, beyond the rounding to blocks."""
        return abs(self.bytes_per_token / other.bytes_per_token - 1) > _SAME

    def changes(self, after: "TokenCost") -> list[tuple[str, str, str]]:
        """The facts that differ, each with its name, the old and the new text."""
        return [
            (name, old, after.facts[name])
            for name, old in self.facts.items()
            if name in after.facts and after.facts[name] != old
        ]


def token_cost(pool: KvPool | None) -> TokenCost | None:
    """The cost in a pool; None where there is no pool or it holds no token."""
    if pool is None or pool.tokens < 1:
        return None
    block = max(pool.layout.bytes_per_block)
    facts = facts_of(
        pool.layout.cache_dtype,
        pool.layout.block_size,
        block,
        [group_text(g.layers, g.kind, g.block_size) for g in pool.layout.groups],
    )
    return TokenCost(block * pool.num_blocks / pool.tokens, facts)


def facts_of(cache_dtype: str, block_size: int, block: int, groups: list[str]) -> dict[str, str]:
    """What decides the bytes of a token, by the names that comparisons show."""
    return {
        "resolved cache type": cache_dtype,
        "tokens per block": str(block_size),
        "bytes per block": f"{block:,}",
        "cache groups": " + ".join(groups),
    }


def group_text(layers: int, kind: str, block_size: int) -> str:
    """A group in words: its layers, what they keep, and the tokens a block of it covers."""
    return f"{layers} x {kind} ({block_size} tokens)"


def cost_sentence(before: TokenCost, after: TokenCost) -> str:
    """``a token costs 78,324 instead of 48,068 bytes on a GPU``, with the cache type if it changed."""
    said = (
        f"a token costs {after.bytes_per_token:,.0f} instead of {before.bytes_per_token:,.0f} bytes "
        "on a GPU"
    )
    for name, old, new in before.changes(after):
        if name == "resolved cache type":
            return f"{said} (cache type {new} instead of {old})"
    return said

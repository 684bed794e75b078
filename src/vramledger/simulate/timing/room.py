"""How many requests run at once: what the cache holds and what the engine admits."""

from typing import Final

from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import size_pool
from vramledger.engine.vllm.layouts import refusals
from vramledger.frozen import frozen
from vramledger.ledger.account import assess
from vramledger.ledger.rank import rank_account
from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.units import GIB

_BLOCKS_SEEN: Final = 16  # over so many a line is laid through the blocks of a growing request


@frozen
class Feasible:
    """Requests that the KV cache holds at once; inf without a cache that grows.

    `whole`: all at their end, so that none is ever preempted; `mean`: of evenly spread ages, so that more cannot
    last. Each at the expected end of the ledger's band and at the pessimistic one, None where nothing starts there.
    """

    whole_tokens: float  # of a request at its end
    mean_tokens: float  # of a request that runs, mean over time
    whole: float
    mean: float
    whole_low: float | None
    mean_low: float | None


@frozen
class Room:
    """The limits of one replica. `pool` is None where the model keeps no cache that grows.

    `pool` is at the expected end of the ledger's band; `low` at the pessimistic one, None where it is not known or
    the deployment does not start there. `shortage` is one sentence where the ledger says that the deployment does not start.
    """

    pool: KvPool | None
    sequences: int
    shortage: str = ""
    low: KvPool | None = None

    def held(self, input_tokens: float, output_tokens: float) -> float:
        """Requests that the cache holds at once with so many output tokens each."""
        return self.capacity(input_tokens, output_tokens).held(input_tokens + output_tokens)

    def capacity(self, input_tokens: float, output_tokens: float) -> Capacity:
        """The cache as a line between the blocks of a prompt and those of a whole request.

        Half a block of a token-wise group is empty on average. Where the blocks do not grow (states,
        windows shorter than the prompt) the line is flat. An answer shorter than a few blocks is looked
        at over a few, since a single block that it begins is no slope.
        """
        return self._of(self.pool, input_tokens, output_tokens)

    def feasible(self, load: Load) -> Feasible:
        """Requests of a load that the cache holds at once, at both ends of the ledger's band."""
        expected, low = (
            self._of(pool, load.input_tokens, load.output_tokens) for pool in (self.pool, self.low)
        )
        starts = self.low is not None or self.pool is None
        return Feasible(
            whole_tokens=load.whole,
            mean_tokens=load.decode_context,
            whole=expected.held(load.whole),
            mean=expected.held(load.decode_context),
            whole_low=low.held(load.whole) if starts else None,
            mean_low=low.held(load.decode_context) if starts else None,
        )

    def _of(self, pool: KvPool | None, input_tokens: float, output_tokens: float) -> Capacity:
        if pool is None or not pool.layout.groups:
            return Capacity(self.sequences)
        layout = pool.layout
        start, end = max(round(input_tokens), 1), round(input_tokens + output_tokens)
        end = max(end, start + _BLOCKS_SEEN * layout.block_size)
        blocks = layout.blocks_at(start), layout.blocks_at(end)
        slope = min((blocks[1] - blocks[0]) / (end - start), blocks[0] / start)
        fixed = blocks[0] - slope * start
        return Capacity(self.sequences, float(pool.usable_blocks), fixed, slope)


def room_of(deployment: Deployment) -> Room:
    """The room of a deployment, from its ledger at expected values.

    A layout that our rules refuse still gets the room that its memory would give: measured runs may
    have mended what the rules know.

    Raises:
        CannotKnow: what the model remembers is not known.
        BadInput: the cache cannot be laid out at all.
    """
    deployment.model.require_cache()
    sequences = deployment.max_num_seqs.value
    refused = refusals(
        deployment.model, deployment.layout, deployment.rules, deployment.accelerator
    )
    if refused:
        return Room(_unchecked_pool(deployment), sequences, refused[0].message)
    found = assess(deployment)
    low = found.pools.low if found.fits else None
    return Room(found.pools.expected, sequences, "" if found.fits else found.reason, low)


def _unchecked_pool(deployment: Deployment) -> KvPool | None:
    """The pool of what is left on each stage, whether or not the engine would start."""
    if not deployment.model.cache_layers:
        return None
    stages = (rank_account(deployment, stage) for stage in range(deployment.layout.pp))
    left = tuple(max(0, int(stage.left.value * GIB)) for stage in stages)
    return size_pool(deployment, layout_for(deployment), left)

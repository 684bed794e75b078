"""What each pool of servers did, and how long the caches took between them."""

from collections.abc import Mapping, Sequence

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.engines import Engine
from vramledger.simulate.fast.records import UNSET
from vramledger.simulate.levels import Levels, levels_of
from vramledger.simulate.percentiles import Percentiles, percentiles
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_limits import PhysicalLimits


@frozen
class SplitFigures:
    """Levels by pool, servers by pool, and seconds from sending for a cache to having it."""

    levels: Mapping[str, Levels]
    servers: Mapping[str, int]
    transfer_s: Percentiles


def split_figures_of(
    engines: Sequence[Engine], settings: Settings, physical: PhysicalLimits
) -> SplitFigures | None:
    """The figures of a run on two pools; None for servers that compute prompts and answers."""
    pools = {
        pool: [one for one in engines if one.pool == pool] for pool in {e.pool for e in engines}
    }
    if set(pools) == {""}:
        return None
    took = np.concatenate([one.fetch_ns for one in engines if one.fetch_ns is not None])
    return SplitFigures(
        levels={
            name: levels_of(pools[name], settings, physical) for name in sorted(pools, reverse=True)
        },
        servers={name: len(pools[name]) for name in sorted(pools, reverse=True)},
        transfer_s=percentiles(took[took != UNSET] / 1e9),
    )

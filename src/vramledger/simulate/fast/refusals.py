"""What the compiled simulator cannot do, by name; the plain loop does all of it."""

from typing import Final

from vramledger.errors import CannotKnow
from vramledger.simulate.fast.load import NEVER, Load
from vramledger.simulate.groups import FullAttention
from vramledger.simulate.settings import Order, Settings

_MOST_BLOCKS: Final = (1 << 31) - 1  # numbers of blocks have 32 bits


def not_counted(settings: Settings, load: Load) -> str:
    """Why blocks cannot merely be counted, or an empty text when they can."""
    budget = min(settings.scheduled_tokens or settings.token_budget, settings.token_budget)
    reasons = (
        (settings.prefix_caching, "prefix caching"),
        (any(not isinstance(one, FullAttention) for one in settings.groups), "windows or states"),
        (settings.order is not Order.FCFS, "scheduling by priority"),
        (settings.long_prefill_threshold > 0, "a threshold for long prefills"),
        (settings.speculation is not None, "speculative decoding"),
        (budget < settings.max_num_seqs, "fewer scheduled tokens than sequences"),
        (settings.pipeline_stages > 1, "pipeline stages"),
        (bool((load.asked["cancel_after_ns"] != NEVER).any()), "clients that go away"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def not_followed(settings: Settings) -> str:
    """Why not even every block can be followed, or an empty text when it can."""
    if settings.num_blocks > _MOST_BLOCKS:
        return f"pools of {settings.num_blocks:,} blocks"
    return ""


def refuse_not_followed(settings: Settings) -> None:
    """Raises `CannotKnow` for an engine whose blocks cannot be followed."""
    reason = not_followed(settings)
    if reason:
        raise CannotKnow(
            f"The compiled simulator does not have {reason}; simulate with the plain loop."
        )

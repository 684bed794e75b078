"""The scheduler's arguments, named as vLLM names them where it has a name."""

from dataclasses import field
from enum import StrEnum

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.rules import SchedulingRules


class Order(StrEnum):
    """Who is served first and preempted last."""

    FCFS = "fcfs"
    PRIORITY = "priority"  # the smaller number first, then the earlier arrival


@frozen
class Speculation:
    """Drafts of speculative decoding.

    `tokens` drafts a step, each accepted with `acceptance` of `SCALE` while all before it were;
    `lookahead` slots are held beyond the scheduled tokens (as many as drafts for EAGLE, MTP and draft
    models, one more for DFlash, none for n-grams); `rows` are extra rows of the token budget a
    request takes (1 for a plain draft model); `drops_last_block` recomputes the last cached block
    (EAGLE and MTP).
    """

    tokens: int
    acceptance: int  # in millionths
    lookahead: int = 0
    rows: int = 0
    drops_last_block: bool = False


@frozen
class Settings:
    """One engine's scheduler. Raises `BadInput` for values that vLLM refuses or that mean nothing.

    `num_blocks` counts the null block, as vLLM does. `token_budget` is max_num_batched_tokens,
    `scheduled_tokens` max_num_scheduled_tokens where it is smaller. `checkpoint_interval` is
    prefix_cache_retention_interval: 0 keeps windows and states only where a prompt ends or
    branches, None at every block, N every N tokens.
    """

    num_blocks: int
    block_size: int
    token_budget: int
    max_num_seqs: int
    max_model_len: int
    groups: tuple[Group, ...] = (FullAttention(),)
    prefix_caching: bool = True
    chunked_prefill: bool = True
    long_prefill_threshold: int = 0
    order: Order = Order.FCFS
    scheduled_tokens: int | None = None
    watermark_blocks: int = 0
    speculation: Speculation | None = None
    async_scheduling: bool = False
    pipeline_stages: int = 1
    checkpoint_interval: int | None = 0
    rules: SchedulingRules = field(default_factory=SchedulingRules)

    def __post_init__(self) -> None:
        _refuse_nonpositive(self)
        _refuse_as_the_engine(self)
        _refuse_groups(self)

    @property
    def steps_in_flight(self) -> int:
        """Steps scheduled before the oldest one's tokens are known."""
        return max(self.pipeline_stages, 2 if self.async_scheduling else 1)

    @property
    def drafts(self) -> int:
        """Draft tokens a decoding request asks for."""
        return self.speculation.tokens if self.speculation else 0

    @property
    def drops_last_block(self) -> bool:
        """Whether the last cached block of a prefix is computed again for a drafting head."""
        return self.speculation is not None and self.speculation.drops_last_block

    @property
    def lookahead(self) -> int:
        """Slots held beyond the scheduled tokens."""
        return self.speculation.lookahead if self.speculation else 0


def _refuse_nonpositive(settings: Settings) -> None:
    for name in ("block_size", "token_budget", "max_num_seqs", "max_model_len", "pipeline_stages"):
        if getattr(settings, name) < 1:
            raise BadInput(
                f"{name} is {getattr(settings, name)}, but the scheduler needs at least 1; give a positive whole number."
            )
    if settings.num_blocks < 2:
        raise BadInput(
            f"num_blocks is {settings.num_blocks}, but one block is the null block and serves nobody; give at least 2."
        )
    for name in ("long_prefill_threshold", "watermark_blocks"):
        if getattr(settings, name) < 0:
            raise BadInput(
                f"{name} is {getattr(settings, name)}, but it cannot be negative; give 0 to switch it off."
            )


def _refuse_as_the_engine(settings: Settings) -> None:
    if settings.token_budget < settings.max_num_seqs:
        raise BadInput(
            f"max_num_batched_tokens ({settings.token_budget}) is smaller than max_num_seqs ({settings.max_num_seqs}), which vLLM refuses; raise the first or lower the second."
        )
    if not settings.chunked_prefill and settings.token_budget < settings.max_model_len:
        raise BadInput(
            f"max_num_batched_tokens ({settings.token_budget}) is smaller than max_model_len ({settings.max_model_len}) without chunked prefill, which vLLM refuses; raise the first or allow chunks."
        )
    if settings.long_prefill_threshold > settings.max_model_len:
        raise BadInput(
            f"long_prefill_token_threshold ({settings.long_prefill_threshold}) is larger than max_model_len ({settings.max_model_len}), which vLLM refuses; lower it."
        )
    if settings.speculation and not 0 <= settings.speculation.acceptance <= ACCEPTANCE_SCALE:
        raise BadInput(
            f"The acceptance of drafts is {settings.speculation.acceptance} millionths, but it is a share; give 0 to {ACCEPTANCE_SCALE}."
        )


def _refuse_groups(settings: Settings) -> None:
    if not settings.groups:
        raise BadInput("The scheduler has no KV cache group; give at least one.")
    for group in settings.groups:
        if isinstance(group, SlidingWindow) and group.window < 1:
            raise BadInput(
                f"A window of {group.window} tokens attends to nothing; give at least 1."
            )
        if isinstance(group, RecurrentState) and group.speculative < 0:
            raise BadInput(
                f"A state group cannot hold {group.speculative} draft states; give 0 or more."
            )


ACCEPTANCE_SCALE = 1_000_000  # the share of accepted drafts is counted in millionths

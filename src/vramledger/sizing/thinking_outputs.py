"""A warning where the model thinks before it answers, but the outputs look like chat.

Thinking tokens are output: they hold KV cache and take decoding steps. Lengths that were recorded
on a model that does not think, or stated with chat in mind, then size far too little.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.model.thinking import thinking_of
from vramledger.plan.recorded import part_for
from vramledger.plan.requirement import Requirement, Scenario

LOOKS_LIKE_CHAT: Final = 500  # output tokens at the median below which no thinking shows


def thinking_warnings(model_name: str, scenarios: Iterable[Scenario]) -> Iterator[str]:
    """One sentence where the outputs of some scenario look like answers without thinking.

    They do where the median output is below `LOOKS_LIKE_CHAT` and no thinking tokens were recorded.
    """
    family = thinking_of(model_name)
    if family is None:
        return
    medians = {each.name: _median(each) for each in scenarios if not _thinks(each)}
    short = {name: tokens for name, tokens in medians.items() if tokens < LOOKS_LIKE_CHAT}
    if not short:
        return
    told = ", ".join(f"{tokens:,.0f} tokens in {name}" for name, tokens in short.items())
    switched = f", or switch thinking off ({family.off})" if family.off else ""
    yield (
        f"{model_name} thinks before it answers ({family.title}), but the median output ({told}) "
        f"is below {LOOKS_LIKE_CHAT} and shows no thinking tokens; thinking is output and holds "
        f"KV cache, so take lengths of a model that thinks (--profile reasoning, your own logs){switched}."
    )


def thinking_of_plan(requirement: Requirement) -> Iterator[str]:
    """The warnings for a plan."""
    yield from thinking_warnings(requirement.model, requirement.scenarios)


def _median(scenario: Scenario) -> float:
    """The median output: the log's own where it was recorded."""
    if scenario.recorded is not None:
        counted = part_for(scenario.recorded, scenario.name).output_tokens
        if counted is not None:
            return counted.p50
    return scenario.lengths.output_at(0.5)


def _thinks(scenario: Scenario) -> bool:
    recorded = scenario.recorded
    tokens = None if recorded is None else recorded.profile.thinking_tokens
    return tokens is not None and tokens.total > 0

"""What the scheduler of one vLLM version does differently; the defaults are 0.32's."""

from vramledger.engine.vllm.rules import Rules, WindowAdmission
from vramledger.frozen import frozen


@frozen
class SchedulingRules:
    """Rules of one version family, out of `engine.vllm.rules`."""

    whole_prompt_admission: bool = True
    window_admission: WindowAdmission = WindowAdmission.AT_ADMISSION
    uncached_blocks_first: bool = True
    lookahead_at_admission: bool = True
    lone_prefill_uncapped: bool = True
    frees_processed_only: bool = True
    own_preemption_ends_running: bool = True


def scheduling_rules(rules: Rules) -> SchedulingRules:
    """The part of a version's rules that the scheduler follows."""
    return SchedulingRules(
        whole_prompt_admission=rules.whole_prompt_admission,
        window_admission=rules.window_admission,
        uncached_blocks_first=rules.uncached_blocks_first,
        lookahead_at_admission=rules.lookahead_at_admission,
        lone_prefill_uncapped=rules.lone_prefill_uncapped,
        frees_processed_only=rules.window_in_flight,
        own_preemption_ends_running=rules.own_preemption_ends_running,
    )

"""The layout behind the numbers of a case, which do not always multiply up to its GPUs.

vLLM knows one attention TP, one PP, one DP, and experts that are cut over all TP x DP ranks: each expert
by all of them, or whole experts with expert parallelism.
"""

from vramledger.engine.setting import Layout
from vramledger.simulate.timing.cases.line import CaseLine


def layout_of(case: CaseLine) -> Layout:
    """The layout.

    A missing `dp` follows from the experts' ranks, then from `gpus`. Where `tp` x `pp` x `dp` are more
    than the GPUs stated, `tp` counted the data-parallel ranks too and is divided by them.
    """
    tp, pp, dp = case.tp, case.pp, case.dp or _replicas(case)
    if case.gpus is not None and tp * pp * dp > case.gpus and tp % dp == 0:
        tp //= dp
    expert_parallel = (case.moe_ep or 1) > 1
    return Layout(tp=tp, pp=pp, dp=dp, expert_parallel=expert_parallel)


def _replicas(case: CaseLine) -> int:
    if case.moe_tp is not None and case.moe_ep is not None:
        return max(case.moe_tp * case.moe_ep // case.tp, 1)
    if case.gpus is not None:
        return max(case.gpus // (case.tp * case.pp), 1)
    return 1

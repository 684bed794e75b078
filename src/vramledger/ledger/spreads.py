"""The layouts that the fewest GPUs are sought over, in the order people run them."""

from typing import Final

from vramledger.engine.vllm.layouts import tensor_parallel_choices
from vramledger.frozen import frozen
from vramledger.ledger.case import Case

MOST_GPUS: Final = 64
_MOST_STAGES: Final = 8
_USUAL_SERVER: Final = 8  # where the card's own data does not say


@frozen
class Shape:
    """Tensor-parallel ranks and pipeline stages."""

    tp: int
    pp: int

    @property
    def gpus(self) -> int:
        return self.tp * self.pp


def shapes(case: Case) -> tuple[Shape, ...]:
    """Legal shapes of up to `MOST_GPUS` GPUs, the one to prefer first.

    Within one server tensor parallelism over a power of two, or stages where that is illegal; then
    any other legal tensor parallelism there; then the fullest server in several stages; then tensor
    parallelism across servers. A number of stages that the launch gives is kept.
    """
    deployment = case.deployment()
    legal = tensor_parallel_choices(
        case.model, deployment.rules, MOST_GPUS, case.accelerator,
        expert_parallel=deployment.layout.expert_parallel,
    )  # fmt: skip
    server = case.accelerator.per_server or _USUAL_SERVER
    if case.launch.flag("pipeline-parallel-size") is not None:
        found = _with_stages(legal, deployment.layout.pp, server)
    else:
        found = _free(legal, server)
    return tuple(dict.fromkeys(shape for shape in found if shape.gpus <= MOST_GPUS))


def _with_stages(legal: tuple[int, ...], stages: int, server: int) -> list[Shape]:
    usual = [tp for tp in legal if _is_power_of_two(tp) and tp <= server]
    return [Shape(tp, stages) for tp in (*usual, *legal)]


def _free(legal: tuple[int, ...], server: int) -> list[Shape]:
    if not legal:
        return []
    inside = [_within(legal, size) for size in range(1, server + 1) if _is_power_of_two(size)]
    others = [Shape(tp, 1) for tp in legal if tp <= server]
    full = inside[-1]
    staged = [Shape(full.tp, full.pp * servers) for servers in range(2, _MOST_STAGES + 1)]
    return [*inside, *others, *staged, *(Shape(tp, 1) for tp in legal)]


def _within(legal: tuple[int, ...], size: int) -> Shape:
    """All of `size` GPUs: the largest legal tensor parallelism that divides them, the rest stages."""
    tp = max((tp for tp in legal if size % tp == 0), default=1)
    return Shape(tp, size // tp)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0

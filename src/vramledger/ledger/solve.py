"""Inverse questions: the largest or smallest setting that still holds, at the pessimistic end."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput, CannotKnow, UnknownName, VramError
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.extremes import largest, smallest
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.spreads import MOST_GPUS, shapes
from vramledger.units import GIB, format_bytes, format_gib

_FINEST_UTILIZATION: Final = 100  # hundredths
_MOST_CARDS: Final = 8
_OTHER_SHARES: Final = ("0.90", "0.95")


@frozen
class Load:
    """What must be held: so many requests of so many tokens each."""

    requests: int = 1
    tokens: int | None = None  # None: max_model_len


@frozen
class Solution:
    """The answer to one inverse question."""

    target: str
    value: float | int | None  # None where no value holds
    sentence: str
    ledger: Ledger | None  # the account at that value


def solve(case: Case, target: str, load: Load) -> Solution:
    """The extreme value of one setting.

    Args:
        case: the launch to vary.
        target: one of `TARGETS`.
        load: what must still be held; by default one request of full length.

    Raises:
        UnknownName: the target is none of ours.
        CannotKnow: the model's cache is not known, or it keeps none.
    """
    solver = _SOLVERS.get(target)
    if solver is None:
        raise UnknownName("question for --solve", target, _SOLVERS, hint=_QUESTIONS)
    if not case.model.cache_layers:
        raise CannotKnow(
            f"{case.model.id} keeps no KV cache that is known here, so --solve {target} has no answer."
        )
    return solver(case, load)


def holds(case: Case, load: Load) -> bool:
    """Whether the case starts and holds the load at the pessimistic end; impossible layouts do not."""
    return _ledger_that_holds(case, load) is not None


def _ledger_that_holds(case: Case, load: Load) -> Ledger | None:
    try:
        ledger = case.ledger()
    except VramError:
        return None
    return ledger if carries(ledger, load) else None


def carries(ledger: Ledger, load: Load) -> bool:
    """Whether an engine starts and holds the load, at the pessimistic end."""
    if not ledger.fits or ledger.pool_low is None:
        return False
    alone = load.requests == 1 and load.tokens is None
    return alone or requests_held(ledger, load) >= load.requests


def requests_held(ledger: Ledger, load: Load) -> int:
    """Requests of the load's length held at once: by the pool, and no more than max_num_seqs."""
    pool = ledger.pool_low
    if pool is None:
        return 0
    tokens = load.tokens or pool.max_model_len
    return min(pool.capacity(tokens), ledger.deployment.max_num_seqs.value)


def _max_model_len(case: Case, load: Load) -> Solution:
    """The longest length that starts; where the profile grows with the length, by search.

    Versions that profile a prompt of full length (no chunked prefill) reserve more for a longer
    limit, and reserve less again above the length from which they chunk, so that the lengths that
    start need not be one interval. The largest one is returned.

    Raises:
        BadInput: a length of the requests is given, which is what is asked for.
    """
    if load.tokens is not None:
        raise BadInput(
            "--request-tokens has no part in --solve max-model-len, whose requests are as long as "
            "the answer. Leave it out."
        )
    longest = case.model.text.max_positions
    wanted = Load(load.requests)
    found = largest(lambda n: holds(_length(case, n), wanted), longest)
    if found == 0:
        return _no_length(case, load)
    ledger = _length(case, found).ledger()
    limit = (
        " (the model's own limit)" if found == longest else f" of the model's {longest:,} tokens"
    )
    return Solution(
        "max-model-len", found,
        f"The largest max_model_len{_for(load)} is {found:,} tokens{limit}.{_left(ledger)}", ledger,
    )  # fmt: skip


def _for(load: Load) -> str:
    return f" that holds {load.requests} requests of that length" if load.requests > 1 else ""


def _no_length(case: Case, load: Load) -> Solution:
    """Why even short requests fail, and the lengths that smaller or larger budgets hold."""
    start = _length(case, 1)
    shortest = _none(start, "max-model-len", load)
    if load.requests > start.deployment().max_num_seqs.value:
        return shortest
    others = []
    for share in _OTHER_SHARES:
        changed = case.with_flag("gpu-memory-utilization", share)
        longest = largest(
            lambda n, c=changed: holds(_length(c, n), Load(load.requests)),  # type: ignore[misc]
            case.model.text.max_positions,
        )
        if longest:
            others.append(f"{longest:,} tokens at {share}")
    hint = f" Largest max_model_len at other utilizations: {', '.join(others)}." if others else ""
    return replace(shortest, sentence=f"{shortest.sentence}{hint}")


def _length(case: Case, tokens: int) -> Case:
    return case.with_flag("max-model-len", str(tokens))


def _max_num_seqs(case: Case, load: Load) -> Solution:
    """The most requests of the given length in flight, with the logits their number reserves."""
    tokens = load.tokens

    def fits(requests: int) -> bool:
        changed = case.with_flag("max-num-seqs", str(requests))
        return _ledger_that_holds(changed, Load(requests, tokens)) is not None

    found = largest(fits, 65_536)
    if found == 0:
        return _none(case, "max-num-seqs", load)
    ledger = case.with_flag("max-num-seqs", str(found)).ledger()
    pool = ledger.pool_low
    length = tokens or (pool.max_model_len if pool else 0)
    return Solution(
        "max-num-seqs", found,
        f"{found:,} requests of {length:,} tokens are held at once; more would be preempted or "
        f"queued.{_left(ledger)}", ledger,
    )  # fmt: skip


def _utilization(case: Case, load: Load) -> Solution:
    found = smallest(
        lambda n: holds(
            case.with_flag("gpu-memory-utilization", f"{n / _FINEST_UTILIZATION:.2f}"), load
        ),
        1,
        _FINEST_UTILIZATION,
    )
    if found is None:
        return _none(case, "gpu-memory-utilization", load)
    value = found / _FINEST_UTILIZATION
    ledger = case.with_flag("gpu-memory-utilization", f"{value:.2f}").ledger()
    return Solution(
        "gpu-memory-utilization", value,
        f"The smallest gpu_memory_utilization that holds {_words(load, ledger)} is {value:.2f}."
        f"{_left(ledger)}", ledger,
    )  # fmt: skip


def _kv_bytes(case: Case, load: Load) -> Solution:
    """Blocks of the load plus the null block, in whole blocks of the tightest stage."""
    deployment = case.deployment()
    if not deployment.rules.kv_memory_bytes:
        raise CannotKnow(
            f"vLLM {deployment.version} has no --kv-cache-memory-bytes (0.10.2 and later have); ask "
            "for gpu-memory-utilization instead."
        )
    ledger = case.ledger()
    pool = ledger.pool or ledger.pool_low
    if pool is None:
        return _none(case, "kv-cache-memory-bytes", load)
    tokens = load.tokens or pool.max_model_len
    blocks = max(load.requests * pool.layout.blocks_at(tokens), pool.layout.blocks_reserved(
        pool.max_model_len)) + 1  # fmt: skip
    found = blocks * max(pool.layout.bytes_per_block)
    asked = f"{_words(load, ledger)} take {format_bytes(found)} of KV cache on a GPU"
    if found > _MOST_CARDS * ledger.ranks[0].total.value * GIB:
        return Solution("kv-cache-memory-bytes", None, f"{asked}, many times what it has.", None)
    changed = case.with_flag("kv-cache-memory-bytes", str(found))
    then = changed.ledger()
    if not then.fits:
        return Solution("kv-cache-memory-bytes", None, f"{asked}: {then.reason}", None)
    few = _too_few_sequences(then, load)
    return Solution(
        "kv-cache-memory-bytes", found,
        f"{found} bytes ({format_bytes(found)}) a GPU hold {_words(load, ledger)}: {blocks} blocks "
        f"with the null block.{f' But {few}' if few else ''}", then,
    )  # fmt: skip


def _gpus(case: Case, load: Load) -> Solution:
    """The fewest GPUs over the shapes people run; a number of stages that is given is kept."""
    for shape in shapes(case):
        changed = case.with_flag("tensor-parallel-size", str(shape.tp))
        if shape.pp != case.deployment().layout.pp:
            changed = changed.with_flag("pipeline-parallel-size", str(shape.pp))
        ledger = _ledger_that_holds(changed, load)
        if ledger is not None:
            return Solution(
                "gpus", shape.gpus,
                f"{shape.gpus} x {case.accelerator.name} (TP {shape.tp}"
                + (f", PP {shape.pp}" if shape.pp > 1 else "")
                + f") hold {_words(load, ledger)}.{_left(ledger)}", ledger,
            )  # fmt: skip
    return _none(case, "gpus", load)


_SOLVERS: Final[dict[str, Callable[[Case, Load], Solution]]] = {
    "max-model-len": _max_model_len,
    "max-num-seqs": _max_num_seqs,
    "gpu-memory-utilization": _utilization,
    "kv-cache-memory-bytes": _kv_bytes,
    "gpus": _gpus,
}
TARGETS: Final = tuple(_SOLVERS)
_QUESTIONS: Final = (
    f"The questions are {', '.join(TARGETS[:-1])} and {TARGETS[-1]}, which also finds the tensor and "
    "pipeline parallel sizes."
)


def _words(load: Load, ledger: Ledger) -> str:
    pool = ledger.pool or ledger.pool_low
    length = load.tokens or (pool.max_model_len if pool else 0)
    plural = "request" if load.requests == 1 else "requests"
    return f"{load.requests} {plural} of {length:,} tokens"


def _left(ledger: Ledger) -> str:
    """What stays outside the engine's hands on the fullest rank."""
    rank = min(ledger.ranks, key=lambda r: r.total.low - r.budget.value - r.outside.high)
    left = rank.total.value - rank.budget.value - rank.outside.value
    return f" {format_gib(max(0.0, left))} of each GPU stay outside the budget and unused."


def _none(case: Case, target: str, load: Load) -> Solution:
    try:
        ledger = case.ledger()
        reason = _too_few_sequences(ledger, load) or (
            _holds_instead(ledger, load) if ledger.fits else ledger.reason
        )
    except VramError as error:
        reason = str(error)
    asked = f"{load.requests} requests" if load.requests > 1 else "one request"
    what = f"number of GPUs up to {MOST_GPUS}" if target == "gpus" else target
    return Solution(target, None, f"No {what} holds {asked}: {reason}", None)


def _too_few_sequences(ledger: Ledger, load: Load) -> str:
    """What to change where max_num_seqs, not memory, keeps the load out; empty where it does not."""
    most = ledger.deployment.max_num_seqs.value
    if load.requests <= most:
        return ""
    return (
        f"max_num_seqs is {most}, so no more than {most} requests run at once whatever the memory; "
        f"set --max-num-seqs {load.requests}."
    )


def _holds_instead(ledger: Ledger, load: Load) -> str:
    pool = ledger.pool_low
    length = load.tokens or (pool.max_model_len if pool else 0)
    held = requests_held(ledger, load)
    return f"as given it starts and holds {held} of {length:,} tokens."

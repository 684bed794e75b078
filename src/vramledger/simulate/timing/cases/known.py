"""What the lines of a file share: a deployment is resolved once, and its work once for all lengths.

Lines that differ in their load alone share all but the length limit, which only the room depends on.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from vramledger.engine.vllm.deployment import Deployment
from vramledger.simulate.timing.cases.deployment import Question, length_limit, question_of
from vramledger.simulate.timing.cases.line import CaseLine
from vramledger.simulate.timing.outlook import Prepared, prepare
from vramledger.simulate.timing.work import Stage, stages_of

_MOST: Final = 256  # kept at a time

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """The values made last, by their key; the one unused longest goes first."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of the key, made where it is not kept; what `make` raises is not kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = self._kept[key] = make()
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value


class Known:
    """Questions of cases, and their deployments prepared."""

    def __init__(self) -> None:
        self._questions: Memo[Question] = Memo()
        self._stages: Memo[tuple[Stage, ...]] = Memo()
        self._prepared: Memo[Prepared] = Memo()

    def question(self, case: CaseLine) -> Question:
        """As `question_of`, which also says what it raises."""
        first = self._questions.get(_with_limit(case), lambda: question_of(case))
        return first.with_load_of(case)

    def preparing(self, case: CaseLine) -> Callable[[Deployment], Prepared]:
        """`prepare` for the deployment of that case."""

        def staging(deployment: Deployment) -> tuple[Stage, ...]:
            return self._stages.get(_served(case), lambda: stages_of(deployment))

        def preparing(deployment: Deployment) -> Prepared:
            return self._prepared.get(_with_limit(case), lambda: prepare(deployment, staging))

        return preparing


def _served(case: CaseLine) -> Hashable:
    """All that a deployment depends on but its length limit."""
    return (
        case.engine, case.engine_version, case.model, case.gpu, case.gpus, case.precision,
        case.kv_dtype, case.tp, case.pp, case.dp, case.moe_tp, case.moe_ep, case.max_num_seqs,
    )  # fmt: skip


def _with_limit(case: CaseLine) -> Hashable:
    return _served(case), length_limit(case)

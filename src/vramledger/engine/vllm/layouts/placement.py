"""A model, the layout proposed for it, and what the rules of legality may look at."""

from vramledger.engine.setting import Layout
from vramledger.engine.vllm.rules import Rules
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.model import Model
from vramledger.model.tensor import Role, Tensor


@frozen
class Placement:
    """What a rule judges. Without an accelerator the rules that need one are silent."""

    model: Model
    layout: Layout
    rules: Rules
    accelerator: Accelerator | None = None

    def ranks_of(self, tensor: Tensor) -> int:
        """Ranks over which the matrices of that tensor are spread."""
        if tensor.role is not Role.EXPERT:
            return self.layout.tp
        if self.layout.expert_parallel:
            return 1
        return self.layout.tp * (self.layout.dp if self.rules.v1 else 1)

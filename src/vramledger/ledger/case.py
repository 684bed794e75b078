"""A launch on a card as a question that can be asked again with one thing changed."""

from dataclasses import replace

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.platforms import Support, support
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.measured_memory import MeasuredMemory, remark
from vramledger.model.model import Model


@frozen
class Case:
    """Everything a ledger depends on. Cases are values: changing one makes another."""

    launch: Launch
    model: Model
    accelerator: Accelerator
    version: str | None = None
    request_tokens: int | None = None
    neighbours_gib: float = 0.0  # held on each GPU by other processes
    memory: MeasuredMemory | None = None  # of a start that was measured

    def with_flag(self, name: str, value: str | None) -> "Case":
        """The same case with that flag set; the last flag of a name counts."""
        flags = tuple(flag for flag in self.launch.flags if flag.name != name)
        flag = Flag(name, value, f"--{name}")
        return self._launched((*flags, flag))

    def without_flag(self, name: str) -> "Case":
        """The same case without that flag."""
        flags = tuple(flag for flag in self.launch.flags if flag.name != name)
        return self._launched(flags)

    def _launched(self, flags: tuple[Flag, ...]) -> "Case":
        """With these flags; the words they were read from no longer count."""
        return replace(self, launch=replace(self.launch, flags=flags, arguments=()))

    def deployment(self) -> Deployment:
        """The deployment, every default resolved anew.

        Raises:
            BadInput: this version does not run on the card.
            CannotKnow: it runs there only through a plugin with memory rules of its own.
        """
        found = resolve(self.launch, self.model, self.accelerator, version=self.version)
        note = self._supported(found).note
        found = replace(
            found,
            neighbours_gib=self.neighbours_gib or found.neighbours_gib,
            notes=(*found.notes, note) if note else found.notes,
        )
        if self.memory is None:
            return found
        return replace(found, notes=(*found.notes, remark(self.memory, found)))

    def _supported(self, deployment: Deployment) -> Support:
        found = support(self.accelerator, deployment.rules)
        if found.refusal:
            raise (BadInput if found.known else CannotKnow)(found.refusal)
        return found

    def ledger(self) -> Ledger:
        """The account.

        Raises:
            BadInput: the layout or a value is not possible for this model.
        """
        return build(self.deployment(), request_tokens=self.request_tokens, memory=self.memory)

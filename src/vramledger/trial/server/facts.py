"""What a server said of itself, and the deployment in effect that follows."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.document import Deployment

_CREDENTIALS: Final = frozenset(
    {"key", "keys", "apikey", "token", "secret", "password", "passwd", "credential", "credentials"}
)
REHEARSAL: Final = "vramledger-rehearsal"  # what a rehearsal server calls itself


@frozen
class ServedModel:
    """One entry of /v1/models."""

    name: str
    root: str | None = None  # the checkpoint, where it is told apart from the name
    max_model_len: int | None = None
    owned_by: str | None = None


@frozen
class Seen:
    """What one source told; None and missing keys are what it did not tell.

    `arguments` go by the engine's own flag names, with dashes.
    """

    engine: str | None = None
    engine_version: str | None = None
    model: str | None = None
    model_revision: str | None = None
    weights_sha256: str | None = None
    chat_template: str | None = None  # its text
    arguments: Mapping[str, Any] = field(default_factory=dict)
    sampling: Mapping[str, Any] = field(default_factory=dict)
    output_limit: int | None = None
    kv_tokens: int | None = None  # that the cache holds, all engines together
    started_at: float | None = None  # seconds since 1970
    speculative: bool | None = None


@frozen
class ServerFacts:
    """What is known of a server. `unseen` names, in words, what could not be learned and why."""

    base: str
    engine: str | None
    engine_version: str | None
    models: tuple[ServedModel, ...]
    metrics_url: str | None
    seen: Seen
    rehearsal: bool
    speculative: bool | None  # drafts are made; None where nothing tells
    uptime_s: float | None
    answered: tuple[str, ...]
    unseen: tuple[str, ...]
    clock_offset_s: float | None = None  # its clock less ours
    clock_error_s: float | None = None  # by how much that may be off
    model_files: str | None = None  # where on this machine the model's files were read
    startup: Any = None  # the reading of a start-up log, an engine.vllm.log.startup.StartupLog

    @property
    def model(self) -> str | None:
        """The name to ask for: that of the first model that is no adapter."""
        return self.models[0].name if self.models else None

    def deployment(self) -> "Deployment":
        """As it stands in run.json; what was not seen stays null."""
        import hashlib

        from vramledger.record.document import Deployment

        template = self.seen.chat_template
        return Deployment(
            engine=self.engine,
            engine_version=self.engine_version,
            model=self.seen.model or self.model,
            model_revision=self.seen.model_revision,
            weights_sha256=self.seen.weights_sha256,
            chat_template=hashlib.sha256(template.encode()).hexdigest() if template else None,
            arguments=dict(self.seen.arguments) or None,
            sampling=dict(self.seen.sampling) or None,
            output_limit=self.seen.output_limit,
            uptime_s=self.uptime_s,
        )


def without_credentials(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, less those that may hold a key: none may reach a record."""
    return {
        name: value
        for name, value in arguments.items()
        if not _CREDENTIALS & set(name.casefold().replace("_", "-").split("-"))
    }


def together(parts: tuple[Seen, ...]) -> Seen:
    """Several sources as one: of each figure the first that told it."""
    from dataclasses import fields

    merged: dict[str, Any] = {}
    for each in fields(Seen):
        values = [getattr(part, each.name) for part in parts]
        if each.name in ("arguments", "sampling"):
            merged[each.name] = {
                key: value for found in reversed(values) for key, value in found.items()
            }
        else:
            merged[each.name] = next((value for value in values if value is not None), None)
    return Seen(**merged)

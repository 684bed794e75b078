"""Whether the version knows the class of the model."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of
from vramledger.engine.vllm.model_classes import Unlisted, unlisted
from vramledger.engine.vllm.versions import rules_for


def _missing(d: Deployment) -> Unlisted | None:
    """What is known of a class that is not listed; None too where the launch names another one."""
    values = values_of(d)
    if values.text("model-impl") == "transformers" or values.json("hf-overrides"):
        return None
    return unlisted(d.model.architecture, rules_for(d.version).release)


def _unknown_class(d: Deployment) -> str | None:
    missing = _missing(d)
    if missing is None or missing.fallback:
        return None
    return (
        f"vLLM {d.version} does not know {d.model.architecture} (first in {missing.first} among "
        f"the releases read) and refuses to start; use {missing.first} or later."
    )


def _only_by_fallback(d: Deployment) -> str | None:
    missing = _missing(d)
    if missing is None or not missing.fallback:
        return None
    return (
        f"vLLM {d.version} does not list {d.model.architecture} (first in {missing.first} among "
        "the releases read): it starts only where the Transformers implementation takes its place, "
        f"which these figures do not describe. Use {missing.first} or later."
    )


_REGISTRY: Final = "model_executor/models/registry.py"
RULES: Final = (
    Rule("A21", Severity.ERROR, _unknown_class, _REGISTRY),
    Rule("A22", Severity.WARNING, _only_by_fallback, _REGISTRY),
)

"""Configuration rules of vLLM that need only the deployment; one module a topic.

A module offers ``RULES``. Adding a rule is one row there.
"""

from typing import Final

from vramledger.engine.finding import Finding
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint import (
    arguments,
    cache,
    features,
    graphs,
    length,
    model_class,
    parallel,
    scheduling,
    transfer,
)
from vramledger.engine.vllm.lint.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *arguments.RULES,
    *model_class.RULES,
    *length.RULES,
    *scheduling.RULES,
    *parallel.RULES,
    *cache.RULES,
    *graphs.RULES,
    *features.RULES,
    *transfer.RULES,
)


def lint(deployment: Deployment) -> tuple[Finding, ...]:
    """Every finding, ordered by rule id."""
    found = (rule.apply(deployment) for rule in RULES)
    return tuple(sorted((f for f in found if f is not None), key=lambda f: f.id))

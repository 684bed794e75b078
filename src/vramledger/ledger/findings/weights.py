"""Weights whose stored form is not known."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.ledger.findings.rule import AccountRule, Effect
from vramledger.ledger.startup import Startup


def _stored_form_unknown(start: Startup) -> Effect | None:
    model = start.deployment.model
    if model.weights_unknown is None:
        return None
    return Effect(
        f"{model.weights_unknown} What is left for the cache is at least what is shown; name a "
        "directory with the weight files, or hf:org/name, for a verdict."
    )


RULES: Final = (
    AccountRule("A20", Severity.WARNING, _stored_form_unknown, "the configuration and the name"),
)

"""The phase that fails at the start, as a finding of its own."""

from typing import Final

from vramledger.engine.finding import Finding, Severity
from vramledger.ledger.startup import SERVING, Verdict

# Errors of the configuration are findings of the lint already.
FAILURES: Final = {
    "start-up check": "L03",
    "state blocks": "L33",
    "loading": "F01",
    "profiling": "F02",
    "KV cache": "F03",
    "full-length request": "F04",
    "cache allocation": "F05",
    "graph capture": "F06",
    SERVING: "F07",
}


def failure(said: Verdict) -> Finding | None:
    """The failing phase, None where it starts or the lint names the error."""
    name = FAILURES.get(said.phase)
    if name is None:
        return None
    return Finding(name, Severity.ERROR, said.reason, source=f"phase: {said.phase}")

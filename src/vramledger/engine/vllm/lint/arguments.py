"""Arguments that have no effect, or that the version does not accept."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of


def _refused(d: Deployment) -> str | None:
    refused = [flag.refused for flag in d.launch.flags if flag.refused]
    if not refused:
        return None
    return f"{'; '.join(refused)}. vLLM does not start with such arguments: drop or replace them."


def _swap_space(d: Deployment) -> str | None:
    flag = d.launch.flag("swap-space")
    if flag is None or flag.refused or not d.rules.v1:
        return None
    return (
        "--swap-space has no effect: the V1 engine recomputes preempted requests and never swaps "
        "to host memory."
    )


def _partial_prefills(d: Deployment) -> str | None:
    named = ("max-num-partial-prefills", "max-long-partial-prefills")
    given = [f"--{name}" for name in named if d.launch.flag(name)]
    if not given or not d.rules.v1:
        return None
    return f"{' and '.join(given)} have no effect on the V1 engine."


def _generation_refused(d: Deployment) -> str | None:
    refused = [note for note in d.notes if note.startswith("VLLM_USE_V1=1 does not go with")]
    return refused[0] if refused else None


def _several_servers(d: Deployment) -> str | None:
    count = values_of(d).integer("api-server-count", least=0)
    if count is None or count <= 1:
        return None
    return (
        f"With {count} API servers the periodic statistics line is off and metrics run in "
        "Prometheus' multi-process mode."
    )


RULES: Final = (
    Rule("A10", Severity.ERROR, _refused, "argument parser of the version"),
    Rule("A11", Severity.ERROR, _generation_refused, "V1 feature check of 0.8 to 0.10"),
    Rule("L56", Severity.SILENT, _swap_space, "config/cache.py"),
    Rule("L57", Severity.SILENT, _partial_prefills, "config/scheduler.py"),
    Rule("L59", Severity.WARNING, _several_servers, "v1/metrics/loggers.py", since=9),
)

"""What a sweep starts from: a question, and what names it apart from every other."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from vramledger import __version__
from vramledger.engine.launch import Launch
from vramledger.frozen import frozen
from vramledger.methods.sweep.depth import FULL, Depth
from vramledger.plan.limit_text import both
from vramledger.plan.requirement import Contract
from vramledger.record.durable import file_sha256
from vramledger.simulate.run import Question
from vramledger.simulate.timing.coefficients import shipped

_TOLD_APART: Final = frozenset({"case", "part", "contract", "fit", "trace"})


@frozen
class Base:
    """The question without any change. `limits` are those given beside a plan's contract."""

    question: Question
    plan: str | None = None  # the file, where a plan was given
    limits: Contract | None = None
    rate_given: bool = False  # the rate was stated, and wins over a plan's
    workload_given: bool = False  # so was the workload
    depth: Depth = FULL  # no part of what names it: rows of other depths are kept apart

    def with_limits(self, contract: Contract | None) -> Contract | None:
        """A plan's contract and the limits given beside it."""
        if self.limits is None or contract is None:
            return contract or self.limits
        return both(contract, self.limits)


def identity(base: Base) -> dict[str, str]:
    """What results depend on beside a point's changes, by a name that people understand."""
    question = base.question
    case, part = question.case, question.part
    contract = question.contract
    fit = question.fit or shipped()
    more = {
        field.name.replace("_", " "): str(getattr(question, field.name))
        for field in fields(question)
        if field.name not in _TOLD_APART
    }
    return {
        "vramledger": __version__,
        "workload": f"{part.workload.name} {file_sha256(part.workload)[:16]}",
        "launch": launch_words(case.launch),
        "model": f"{case.model.id} {_digest(repr(case.model))}",
        "accelerator": f"{case.accelerator.name} {_digest(repr(case.accelerator))}",
        "engine version": case.version or case.launch.version or "not stated",
        "rate scale": f"{part.rate_scale:g}",
        "contract": "; ".join(contract.lines) if contract is not None else "none",
        "coefficients": f"{fit.source} {_digest(repr((fit.coefficients, fit.tpot, fit.ttft)))}",
        **more,
    }


def digest(named: Mapping[str, str]) -> str:
    """An identity as SHA-256."""
    return hashlib.sha256(json.dumps(dict(named), sort_keys=True).encode()).hexdigest()


def launch_words(launch: Launch, model: str | None = None) -> str:
    """The launch as one command; of each flag the last counts."""
    last: dict[str, Any] = {flag.name: flag for flag in launch.flags if flag.name != "model"}
    words = ["vllm", "serve", model or launch.model or ""]
    for name, flag in last.items():
        words.append(f"--{name}")
        words += list(flag.values) if flag.values else [] if flag.value is None else [flag.value]
    return shlex.join(words)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]

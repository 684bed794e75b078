"""Context length: beyond the model, or other than its writer thought."""

import re
from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of

_DECIMAL: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)k\Z")
_ALLOW: Final = "VLLM_ALLOW_LONG_MAX_MODEL_LEN"


def _beyond_model(d: Deployment) -> str | None:
    length = d.max_model_len.value
    if length is None or not d.derived_model_len or length <= d.derived_model_len:
        return None
    if values_of(d).environment_switch(_ALLOW):
        return None
    return (
        f"max_model_len is {length}, and the model's configuration allows {d.derived_model_len}; "
        f"vLLM refuses to start. Lower it, extend the model by a rope scaling it supports, or set "
        f"{_ALLOW}=1 and accept wrong output past {d.derived_model_len}."
    )


def _decimal_suffix(d: Deployment) -> str | None:
    flag = d.launch.flag("max-model-len")
    match = _DECIMAL.match(flag.value.strip()) if flag is not None and flag.value else None
    if match is None:
        return None
    decimal = int(float(match["number"]) * 1000)
    binary = int(float(match["number"]) * 1024)
    return f"{match[0]} means {decimal} tokens: a small k is 1000. {match['number']}K is {binary}."


def _long_prefill(d: Deployment) -> str | None:
    threshold = values_of(d).integer("long-prefill-token-threshold", least=0)
    length = d.max_model_len.value
    if threshold is None or length is None or threshold <= length:
        return None
    return (
        f"long_prefill_token_threshold ({threshold}) is above max_model_len ({length}); vLLM "
        "refuses to start."
    )


RULES: Final = (
    Rule("L10", Severity.ERROR, _long_prefill, "config/scheduler.py", since=7),
    Rule("L12", Severity.ERROR, _beyond_model, "config/model.py"),
    Rule("L13", Severity.SILENT, _decimal_suffix, "utils/argparse_utils.py", since=8),
)

"""Which formats there are. The order is that of recognition: the more particular come first."""

from functools import cache
from importlib import import_module
from typing import Final

from vramledger.errors import UnknownName
from vramledger.workload.formats.format import LogFormat

NAMES: Final = (
    "litellm_spend",
    "litellm_payload",
    "openai_usage",
    "langfuse",
    "sagemaker",
    "otel",
    "envoy",
    "nginx",
    "vllm_log",
    "tracelab",
    "bailian",
    "aiperf_export",
    "guidellm",
    "weka",
    "baseten",
    "workload_trace",
    "mooncake",
    "aiperf_trace",
    "azure_llm",
    "burstgpt",
    "servegen",
    "sharegpt",  # reads plain lists of messages too: after the logs that hold them
    "timed_trace",  # of any record with a moment and two lengths: last
)


@cache
def formats() -> tuple[LogFormat, ...]:
    """Every format, in the order of recognition."""
    return tuple(import_module(f"{__package__}.{name}").FORMAT for name in NAMES)


def format_named(name: str) -> LogFormat:
    """The format of that name.

    Raises:
        UnknownName: none has it.
    """
    known = {each.name: each for each in formats()}
    if name not in known:
        raise UnknownName("log format", name, (*known, "auto"), "--format")
    return known[name]

"""SGLang: /server_info (before 0.5.4 /get_server_info) tells all arguments and what memory they got.

https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.trial.server.asking import Asker, Refused
from vramledger.trial.server.engines.reader import EngineReader, text, whole
from vramledger.trial.server.facts import Seen

_PATHS: Final = ("/server_info", "/get_server_info")
_NO_ARGUMENT: Final = frozenset(
    {"version", "internal_states", "api_key", "admin_api_key", "status"}
)
_DRAFTS: Final = "speculative_algorithm"


def read(ask: Asker) -> tuple[Seen, ...]:
    """From the first of the paths that answers."""
    for path in _PATHS:
        found = ask.json(path)
        if not isinstance(found, Refused):
            return (_seen(found),)
    return ()


def _seen(info: Mapping[str, Any]) -> Seen:
    arguments = {
        name.replace("_", "-"): value
        for name, value in info.items()
        if name not in _NO_ARGUMENT and isinstance(value, str | int | float | bool)
    }
    return Seen(
        engine_version=text(info.get("version")),
        model=text(info.get("model_path")),
        model_revision=text(info.get("revision")),
        arguments=arguments,
        kv_tokens=whole(info.get("max_total_num_tokens")) or _from_states(info),
        speculative=info[_DRAFTS] is not None if _DRAFTS in info else None,
    )


def _from_states(info: Mapping[str, Any]) -> int | None:
    """The capacity of all schedulers together."""
    states = info.get("internal_states")
    found = [
        whole(state.get("memory_usage", {}).get("token_capacity"))
        for state in (states if isinstance(states, list) else ())
        if isinstance(state, Mapping) and isinstance(state.get("memory_usage", {}), Mapping)
    ]
    told = [count for count in found if count is not None]
    return sum(told) if told else None


READER: Final = EngineReader(
    "sglang",
    ("sglang",),
    read,
    signs=tuple((path, "model_path") for path in _PATHS),
    resets=("/flush_cache",),
    reset_hint="flush SGLang while no request is running",
)

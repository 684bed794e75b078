"""What run.json tells that is a setting, under which name, and when two values are the same.

Every key counts as a setting unless it stands here as something else, so that a key that nobody thought of is a change
when it differs, and not overlooked.
"""

from typing import Any, Final

from vramledger.trial.server.differences import FIELDS, folded, same_setting

ARGUMENT: Final = "--"
_TITLES: Final = {name: title for name, title, _ in FIELDS} | {
    "origin": "origin of the runs",
    "workload_sha256": "hash of the workload",
    "seed": "seed of the draws",
    "scenario": "scenario",
    "client_version": "version of the client",
    "output_limit": "limit on an answer",
    "gpu_uuids": "GPUs themselves",
    "rate_scale": "factor on the arrivals",
    "closed": "number of clients of a closed loop",
    "load.duration_s": "length of the load",
    "load.prompts.own": "file of prompts",
    "load.prompts.lexicon": "words that prompts are made of",
    "cold": "cache at the start",
    "workers": "number of client workers",
    "warm_up_requests": "number of requests sent to warm up",
    "prefix_cache_resets": "number of resets of the prefix cache",
    "arrivals": "arrival times of the same requests",
    "output_tokens_asked": "answer lengths asked for",
    "input_tokens": "prompt lengths of the same requests",
    "output_tokens_got": "answer lengths",
    "requests_offered": "requests offered",
    "kv_tokens": "size of the KV pool, in tokens",
    "num_gpu_blocks": "size of the KV pool, in blocks",
    "boot_id": "client's machine, or its boot",
    "server": "address of the server",
    "contract": "contract that the run was made for",
    "plan": "plan that the run was made for",
    "ended": "way in which the run ended",
}
POOL: Final = frozenset(
    {
        "kv_tokens",
        "num_gpu_blocks",
        "--num-gpu-blocks",
        "--num-cpu-blocks",
        "--kv-cache-size-tokens",
    }
)  # results of a start, no settings
CIRCUMSTANCES: Final = frozenset({"ended", "plan", "contract", "server"})  # told, and no change
CONDITIONS: Final = frozenset({"boot_id"})  # another value may be a change and may be none
DECISIVE: Final = frozenset(
    {"engine", "engine_version", "model", "gpu", "workload_sha256", "arguments", "origin"}
)  # without them nobody knows what was run
DEPLOYMENT: Final = frozenset(
    {
        "engine", "engine_version", "model", "model_revision", "weights_sha256", "chat_template", "output_limit", "gpu", "gpu_uuids",
        "driver",
    }
)  # fmt: skip
WITH_MODEL: Final = frozenset(
    {"model_revision", "weights_sha256", "chat_template", "load.prompts.lexicon", "input_tokens"}
)  # what another model has of its own
IGNORED: Final = (
    "schema", "name", "sha256", "journal_sha256", "tables", "torn_segments", "started_at", "ended_at", "clock", "asked",
    "in_effect", "plan", "trial.zero_ns", "trial.metrics_url", "trial.target.url", "trial.load.workload",
    "trial.load.period_s", "trial.load.prompts.salt", "trial.load_sha256", "trial.load.prompts.style.model", "trial.load_report",
    "trial.length_effects", "trial.answered", "trial.model_files", "trial.unjudgeable", "trial.prompts_said",
    "trial.clock_ahead_s", "trial.clock_error_s", "trial.warnings", "trial.unseen", "trial.on_interrupt",
    "trial.gpu_metrics", "trial.stages", "trial.challenge", "imported.files_sha256", "imported.unrecorded_requests",
    "imported.headline", "imported.claims", "imported.missing", "imported.notes",
)  # fmt: skip
_RENAMED: Final = {
    "trial.load.closed": "closed",
    "trial.contract": "contract",
    "trial.load.prompts.lexicon.units": "load.prompts.lexicon",
}
_ABOUT_WORDS: Final = "trial.load.prompts.lexicon."


def is_ignored(path: str) -> bool:
    """Whether a key of run.json is a stamp, an address, a text or a result."""
    return any(path == each or path.startswith(each + ".") for each in IGNORED)


def name_of(path: str) -> str | None:
    """The name of a setting, the same whatever made the run; None for a detail of one that has its name already."""
    if path in _RENAMED:
        return _RENAMED[path]
    if path.startswith(_ABOUT_WORDS):
        return None
    return path.removeprefix("trial.")


def title_of(name: str) -> str:
    """The name in words; arguments as they are written."""
    return name if name.startswith(ARGUMENT) else _TITLES.get(name, name)


def argument(name: str) -> str:
    """An argument by the name under which all spellings of it stand."""
    return ARGUMENT + folded(name)


def same(name: str, a: Any, b: Any) -> bool:
    """Whether two values of a setting are one."""
    if name == "engine_version":
        return _release(str(a)) == _release(str(b))
    if name == "gpu_uuids":
        return sorted(map(str, a)) == sorted(map(str, b))
    return same_setting(a, b)


def _release(version: str) -> tuple[str, str]:
    """0.33 is 0.33.0; what was built for another platform is another."""
    number, _, local = version.casefold().lstrip("v").partition("+")
    parts = number.split(".")
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts), local

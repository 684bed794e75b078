"""llama.cpp: /props tells the context of a slot, the slots, the model file, the template and the build; /slots whether one drafts.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

import json
from typing import Any, Final

from vramledger.trial.server.asking import Asker, Refused
from vramledger.trial.server.engines.reader import EngineReader, text, whole
from vramledger.trial.server.facts import Seen

_SAMPLING: Final = ("temperature", "top_k", "top_p", "min_p", "seed", "repeat_penalty")


def read(ask: Asker) -> tuple[Seen, ...]:
    """From /props."""
    found = ask.json("/props")
    if isinstance(found, Refused):
        return ()
    settings = found.get("default_generation_settings")
    settings = settings if isinstance(settings, dict) else {}
    params = settings.get("params", settings)  # older builds have no inner object
    params = params if isinstance(params, dict) else {}
    slots, context = whole(found.get("total_slots")), whole(settings.get("n_ctx"))
    arguments: dict[str, Any] = {}
    if slots is not None:
        arguments["parallel"] = slots
    if context is not None:
        arguments["context-of-a-slot"] = context  # -c is divided by the slots unless they share it
    return (
        Seen(
            engine_version=text(found.get("build_info")),
            model=text(found.get("model_path")),
            chat_template=text(found.get("chat_template")),
            arguments=arguments,
            sampling={name: params[name] for name in _SAMPLING if name in params},
            speculative=_drafts(ask),
        ),
    )


def _drafts(ask: Asker) -> bool | None:
    """By the list of slots, which is on by default; None where it is off."""
    found = ask.page("/slots")
    try:
        slots = [] if isinstance(found, Refused) else json.loads(found.body)
    except (ValueError, RecursionError):
        return None
    told = [each.get("speculative") for each in slots if isinstance(each, dict)] if isinstance(slots, list) else []  # fmt: skip
    known = [each for each in told if isinstance(each, bool)]
    return any(known) if known else None


READER: Final = EngineReader(
    "llama.cpp",
    ("llamacpp", "llama.cpp"),
    read,
    signs=(("/props", "total_slots"),),
    reset_hint="llama.cpp has no way to drop all cached prompts; use fresh prompts",
)

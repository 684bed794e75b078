"""What a worker needs to make its share of the requests."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from vramledger.frozen import frozen
from vramledger.trial.prompts.body import BodyStyle
from vramledger.trial.prompts.lexicon import Lexicon, lexicon_from_json


@frozen
class PromptSettings:
    """What every prompt and body is made of.

    `own` is a file of prompts instead of made ones; the lexicon is then of no use. `salt` has 64 bits.
    """

    style: BodyStyle
    lexicon: Lexicon | None
    salt: int
    own: str | None = None


@frozen
class LoadJob:
    """A load, whole; each worker is told its share beside it.

    `workload` is a stored workload in which every request that is sent has a length. Its requests are due at their
    arrivals, or, with `closed` clients, in their order. With `duration_s` only what is due before is sent, and the
    workload is repeated, with new identities, `period_s` later each time; in a closed loop without end.
    """

    workload: str
    prompts: PromptSettings
    period_s: float = 0.0
    duration_s: float | None = None
    closed: int | None = None

    def to_json(self) -> str:
        """As one line."""
        found = asdict(self)
        prompts = self.prompts
        found["prompts"]["lexicon"] = None if prompts.lexicon is None else prompts.lexicon.to_json()
        return json.dumps(found, separators=(",", ":"))


def load_from_json(text: str | bytes | Mapping[str, Any]) -> LoadJob:
    """The job that `LoadJob.to_json` wrote, or the object in it."""
    found = dict(text if isinstance(text, Mapping) else json.loads(text))
    said = dict(found["prompts"])
    lexicon = said["lexicon"]
    prompts = PromptSettings(
        style=BodyStyle(**said["style"]),
        lexicon=None if lexicon is None else lexicon_from_json(lexicon),
        salt=said["salt"],
        own=said["own"],
    )
    return LoadJob(**{**found, "prompts": prompts})

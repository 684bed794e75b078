"""A's answers in a file, for when the other server is not there at the same time.

It holds hashes of tokens and log probabilities, no text; whoever has the tokenizer can find the text again, so the file is for its
owner's eyes only and is written that way.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer, Step
from vramledger.methods.shadow.prompts import Prompts
from vramledger.methods.shadow.side import Style, Told
from vramledger.named_file import read_text
from vramledger.record.durable import replace_file

SCHEMA: Final = "vramledger.shadow-recording/1"
_MOST_BYTES: Final = 1 << 30
_DIGITS: Final = 8  # of log probabilities
_REMEDY: Final = "record A's answers anew with --record"


@frozen
class Recording:
    """What A answered: to every prompt, and again to those at `repeated`. None is what was not asked."""

    told: Told
    style: Style
    source: str
    prompts_sha256: str
    answers: tuple[Answer | None, ...]
    repeated: tuple[int, ...]
    again: tuple[Answer | None, ...]


def write_recording(path: Path, recording: Recording) -> None:
    """The file appears whole, readable by its owner alone.

    Raises:
        BadInput: it cannot be written.
    """
    document = {
        "schema": SCHEMA,
        "told": asdict(recording.told),
        "style": asdict(recording.style),
        "prompts": recording.source,
        "prompts_sha256": recording.prompts_sha256,
        "repeated": list(recording.repeated),
        "answers": [_written(each) for each in recording.answers],
        "again": [_written(each) for each in recording.again],
    }
    before = os.umask(0o077)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(document, separators=(",", ":")).encode())
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}; choose another place."
        ) from None
    finally:
        os.umask(before)


def read_recording(path: Path) -> Recording:
    """What `write_recording` wrote.

    Raises:
        BadInput: no such file, or no recording.
    """
    text = read_text(path, _MOST_BYTES, "a recording of answers")
    try:
        found = json.loads(text)
        if found["schema"] != SCHEMA:
            raise ValueError  # noqa: TRY301 - said below with every other flaw
        recording = Recording(
            Told(**found["told"]),
            Style(**found["style"]),
            str(found["prompts"]),
            str(found["prompts_sha256"]),
            tuple(_read(each) for each in found["answers"]),
            tuple(int(each) for each in found["repeated"]),
            tuple(_read(each) for each in found["again"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{path} is no recording of answers ({SCHEMA}); {_REMEDY}.") from None
    if len(recording.again) != len(recording.repeated):
        raise BadInput(f"{path} lacks answers that it counts; {_REMEDY}.")
    return recording


def check_prompts(recording: Recording, prompts: Prompts, path: Path) -> None:
    """Refuse to compare answers to different prompts.

    Raises:
        BadInput: they are not the prompts of the recording.
    """
    if recording.prompts_sha256 != prompts.sha256 or len(recording.answers) != len(prompts.listed):
        raise BadInput(
            f"{path} holds answers to {len(recording.answers)} prompts ({recording.source}), and these are {len(prompts.listed)} "
            f"others ({prompts.source}); give the same --prompts, --requests and --seed."
        )


def _written(answer: Answer | None) -> Mapping[str, Any] | None:
    if answer is None:
        return None
    steps: Sequence[Any] = [
        [each.token, {name: round(p, _DIGITS) for name, p in each.top.items()}]
        for each in answer.steps
    ]
    return {
        "error": answer.error,
        "finish": answer.finish,
        "prompt_tokens": answer.prompt_tokens,
        "output_tokens": answer.output_tokens,
        "unit": answer.unit,
        "steps": steps,
    }


def _read(found: Mapping[str, Any] | None) -> Answer | None:
    if found is None:
        return None
    steps = tuple(
        Step(str(token), {str(name): float(p) for name, p in top.items()})
        for token, top in found["steps"]
    )
    told = {name: found[name] for name in _PLAIN}
    return Answer(steps=steps, **told)


_PLAIN: Final = ("error", "finish", "prompt_tokens", "output_tokens", "unit")

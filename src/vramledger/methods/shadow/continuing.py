"""A recording that was interrupted goes on: what it holds is kept, and the rest is asked."""

from dataclasses import replace
from pathlib import Path

from vramledger.errors import BadInput
from vramledger.methods.shadow.prompts import Prompts
from vramledger.methods.shadow.recording import Recording, check_prompts, read_recording
from vramledger.methods.shadow.side import Style, Told, differences

_ELSE = "give another --record, or remove it to begin anew"


def begun_recording(path: Path) -> Recording | None:
    """What lies there without all of its answers; None where nothing does, or no recording, or a whole one."""
    if not path.is_file():
        return None
    try:
        found = read_recording(path)
    except BadInput:
        return None
    return found if None in (*found.answers, *found.again) else None


def check_same(
    begun: Recording, told: Told, style: Style, prompts: Prompts, repeated: tuple[int, ...], path: Path
) -> None:  # fmt: skip
    """Refuse to go on with answers to something else, or of another server.

    Raises:
        BadInput: they are such.
    """
    check_prompts(begun, prompts, path)
    if (begun.style, begun.repeated) != (style, repeated):
        raise BadInput(
            f"{path} holds answers that were asked for with another --api, --max-tokens, --top-logprobs, --seed or --repeat-a; {_ELSE}."
        )
    apart = differences(begun.told, replace(told, url=begun.told.url))
    if begun.told.rehearsal != told.rehearsal or (apart and not told.rehearsal):
        why = apart[0].replace(": A has", ": it has").replace(", B has", ", this server has")
        raise BadInput(f"{path} holds answers of another server. {why} G{_ELSE[1:]}.")

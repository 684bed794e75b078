"""The prompts of a comparison: a file of the user, or questions of ours."""

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.prompts.body import CHAT
from vramledger.trial.prompts.own import OwnPrompts

BUILT_IN: Final = "built-in questions"
Prompt = str | list[Any]  # a text, or the messages of a chat
_ASKED: Final = (
    "What is {}?",
    "Explain {} to a child in a few sentences.",
    "Write one paragraph about {}.",
    "Name three facts about {}.",
    "Why does {} matter?",
    "Give a short history of {}.",
    "What do people often get wrong about {}?",
    "Compare {} with something else that everybody knows.",
    "Write a short letter to a friend about {}.",
    "List the steps by which somebody would learn about {}.",
    "What would change without {}?",
    "Summarise in two sentences what is known about {}.",
)
_SUBJECTS: Final = (
    "the ocean", "bread", "the French Revolution", "photosynthesis", "a bicycle", "the Moon", "insurance", "jazz",
    "the steam engine", "democracy", "chess", "vaccines", "the Silk Road", "volcanoes", "money", "the violin",
    "prime numbers", "earthquakes", "coffee", "the printing press", "migration of birds", "glass", "the Roman Empire",
    "sleep", "electricity", "gardening", "the alphabet", "bees", "maps", "friendship",
)  # fmt: skip


@frozen
class Prompts:
    """`source` names where they come from; each is a text or messages."""

    source: str
    listed: tuple[Prompt, ...]

    @property
    def sha256(self) -> str:
        """Of all of them, in order: the same prompts have the same."""
        text = json.dumps(self.listed, sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()


def own_prompts(path: Path, most: int, api: str) -> Prompts:
    """The first `most` of a file.

    Raises:
        BadInput: no such file, a line without a prompt, or messages where a completion is asked for.
    """
    own = OwnPrompts(path, api)
    listed = tuple(own.prompt(number) for number in range(min(most, len(own))))
    if api != CHAT:
        line = next((place for place, each in enumerate(listed) if not isinstance(each, str)), None)
        if line is not None:
            raise BadInput(
                f"{path}, prompt {line + 1}: it holds messages, and a completion takes a text; ask with --api chat."
            )
    return Prompts(str(path), listed)


def built_in(count: int, seed: int) -> Prompts:
    """`count` different questions of ours, in an order that the seed draws.

    Raises:
        BadInput: there are not so many.
    """
    every = [form.format(subject) for form in _ASKED for subject in _SUBJECTS]
    if count > len(every):
        raise BadInput(
            f"There are {len(every)} built-in questions, and --requests asks for {count}; give --prompts FILE with your own, "
            "which say more about your load in any case."
        )
    random.Random(seed).shuffle(every)  # noqa: S311 - an order, no secret
    return Prompts(BUILT_IN, tuple(every[:count]))

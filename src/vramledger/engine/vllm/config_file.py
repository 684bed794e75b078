"""``--config FILE``: a YAML file of flags, read in front of the command's own."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.engine.launch import Launch
from vramledger.engine.manifests.document import Node, load_documents
from vramledger.engine.vllm.command import config_words, is_option
from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput
from vramledger.named_file import read_text

_FLAG: Final = "--config"
_MODEL: Final = "--model"
_LARGEST: Final = 1 << 19


def expand_config(launch: Launch, folder: Path) -> Launch:
    """The launch with the settings of its ``--config`` file in front of its own arguments.

    The file is looked for in `folder`. A file that is not there leaves a note: its settings are
    not known.

    Raises:
        BadInput: the file is not there and the launch names no model of its own.
    """
    words = list(launch.arguments)
    for index, word in enumerate(words):
        name, attached, value = word.text.partition("=")
        if name != _FLAG:
            continue
        end = index + 1 if attached else index + 2
        text = value if attached else words[index + 1].text if index + 1 < len(words) else ""
        path = folder / text
        rest = (*words[:index], *words[end:])
        has_model = bool(rest) and not is_option(rest[0].text)
        if not os.path.lexists(path):
            if not has_model and not any(w.text.partition("=")[0] == _MODEL for w in rest):
                raise BadInput(
                    f"There is no file {text!r}, which {_FLAG} in {launch.where} names, and without "
                    "it there is no model; check the path, or write the model after 'vllm serve'."
                )
            note = f"The settings in {text or 'the --config file'} are not known: it is not here."
            return replace(launch, arguments=tuple(rest), notes=(*launch.notes, note))
        settings = read_settings(path)
        release = rules_for(launch.version).release
        found = config_words(settings, flag_table(release))
        head, tail = (rest[:1], rest[1:]) if has_model else ((), tuple(rest))
        return replace(launch, arguments=(*head, *found, *tail))
    return launch


def read_settings(path: Path) -> dict[str, object]:
    """The settings of a ``--config`` file by flag name.

    Raises:
        BadInput: not YAML, not a mapping.
    """
    documents = load_documents(read_text(path, _LARGEST, "a --config file"), str(path))
    return settings_of(documents[0]) if documents else {}


def settings_of(document: Node) -> dict[str, object]:
    """The settings of a mapping of flags."""
    return {key.replace("_", "-"): node.plain() for key, node in document.entries()}

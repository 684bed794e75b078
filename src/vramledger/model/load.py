"""From what a person names to a `Model`: a directory, a file, a catalogue id or ``hf:org/name``."""

from pathlib import Path

from vramledger.model.architectures import build
from vramledger.model.config import read_config
from vramledger.model.model import Model


def load_model(reference: str) -> Model:
    """The model behind a reference.

    Raises:
        BadInput: nothing usable is there; the message says what was looked for.
    """
    path = Path(reference)
    config_path = path / "config.json" if path.is_dir() else path
    return build(read_config(config_path), reference)

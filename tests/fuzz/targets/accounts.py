"""Whole accounts: any model on any card with any arguments, down to what is printed."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.driver import Target
from fuzz.targets.configs import make_config, some_config
from fuzz.targets.launches import make_arguments
from vramledger.engine.read import read_launch
from vramledger.hardware.catalogue import accelerators
from vramledger.ledger.case import Case
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config
from vramledger.report.ledger import to_text
from vramledger.report.ledger_json import ledger_json
from vramledger.report.ledger_markdown import to_markdown

Asked = tuple[dict[str, Any], str, str, int | None]


def make(random: Random) -> Asked:
    config = make_config(random) if random.randrange(2) else some_config(random)
    tokens = random.choice([None, None, 1, 100, 8_192, 10**9])
    card = random.choice(accelerators()).name
    return config, make_arguments(random, 3), card, tokens


def read(asked: Asked, _folder: Path) -> None:
    config, arguments, card, tokens = asked
    launch = read_launch(f"vllm serve m {arguments}")
    model = assemble(Checkpoint("m", Config(config, "config.json")))
    accelerator = next(each for each in accelerators() if each.name == card)
    ledger = Case(launch, model, accelerator, request_tokens=tokens).ledger()
    json.dumps(ledger_json(ledger), allow_nan=False)
    assert to_text(ledger)
    assert to_markdown(ledger)


TARGETS = (Target("account", 8_000, make, read),)

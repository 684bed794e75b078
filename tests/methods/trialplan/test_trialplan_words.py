"""The words of an item are options that its verb has."""

from importlib import import_module
from pathlib import Path

import pytest

from vramledger.cli.trial import VERBS
from vramledger.methods.trialplan.carry.words import Server, settings_words, words_of
from vramledger.methods.trialplan.item import KINDS, Item, Kind, longest_s
from vramledger.methods.trialplan.trials_file import Trials

KEYED = Server("http://h", api="chat", model="m", key_env="K", key_file="f")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.verb in VERBS], ids=lambda kind: kind.name
)
def test_every_word_is_an_option_of_its_verb(kind: Kind) -> None:
    item = Item("a", kind.name, 900.0, "daily", 600.0, 60.0, settings={"max-num-seqs": "8"})
    trials = Trials(Path("t.yaml"), Path("plan.yaml"), (item,), (), 0.9, workload=Path("w.parquet"))
    words = words_of(item, trials, KEYED, Path("out"))
    command = import_module(f"vramledger.cli.trial.{VERBS[kind.verb][0]}").command
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words[4:] if word.startswith("-")} <= known
    assert words[3:5] == ("trial", kind.verb)


def test_a_ramp_may_wait_once_more_than_a_run() -> None:
    by_name = {kind.name: kind for kind in KINDS}
    ramp, run = (longest_s(by_name[name], 600.0, 60.0) for name in ("ramp", "run"))
    assert ramp - run == 30.0


def test_settings_are_quoted_for_a_shell() -> None:
    settings = {"max-num-seqs": "8", "enforce-eager": "true", "hf-overrides": '{"a": 1}'}
    assert settings_words(settings) == (
        """--max-num-seqs 8 --enforce-eager --hf-overrides '{"a": 1}'"""
    )

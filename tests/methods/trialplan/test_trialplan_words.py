"""The words of an item are options that its verb has."""

from importlib import import_module
from pathlib import Path

import pytest

from planned_trials import plan
from vramledger.cli.trial import VERBS
from vramledger.methods.trialplan.carry.words import Server, settings_words, words_of
from vramledger.methods.trialplan.item import KINDS, Item, Kind, kind_named, longest_s
from vramledger.methods.trialplan.trials_file import Trials

KEYED = Server("http://h", api="chat", model="m", key_env="K", key_file="f")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.verb in VERBS], ids=lambda kind: kind.name
)
def test_every_word_is_an_option_of_its_verb(kind: Kind, tmp_path: Path) -> None:
    item = Item(
        "a", kind.name, 900.0, "daily", 600.0, 60.0, settings={"max-num-seqs": "8"}, times=3, against="http://a"
    )  # fmt: skip
    trials = Trials(
        Path("t.yaml"), plan(tmp_path), (item,), (), 0.9, workload=Path("w.parquet"), stages=Path("s.json")
    )  # fmt: skip
    words = words_of(item, trials, KEYED, Path("out"))
    command = import_module(f"vramledger.cli.trial.{VERBS[kind.verb][0]}").command
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words[4:] if word.startswith("-")} <= known
    assert words[3:5] == ("trial", kind.verb)
    with command.make_context(kind.verb, list(words[5:])):  # every value is one of its option too
        pass


def test_a_soak_begins_nothing_that_its_time_does_not_hold() -> None:
    """Three ramps and every segment with what lies between two: that is what is said to take so long, and what the verb is told."""
    kind = kind_named("soak")
    takes = longest_s(kind, 7200.0, 60.0)
    assert takes > 7200 + 3 * 600 + 24 * 60
    item = Item("s", "soak", takes, "daily", 7200.0, 60.0)
    trials = Trials(Path("t.yaml"), Path("plan.yaml"), (item,), (), 0.9)
    words = words_of(item, trials, KEYED, Path("out"))
    assert words[words.index("--within") + 1] == f"{takes:g}s"
    assert words[words.index("--ramp-for") + 1] == "600s"


def test_a_comparison_of_answers_is_judged_by_the_plan_that_states_an_agreement(
    tmp_path: Path,
) -> None:
    file = plan(tmp_path)
    item = Item("shadow", "shadow", 900.0, against=str(tmp_path / "a.answers"))
    trials = Trials(Path("t.yaml"), file, (item,), (), 0.9)
    words = words_of(item, trials, KEYED, Path("out"))
    assert "--plan" not in words
    assert words[words.index("--a-recorded") + 1] == str(tmp_path / "a.answers")
    assert words[words.index("--b") + 1] == "http://h"
    file.write_text(file.read_text() + "quality: {min_agreement: 0.98}\n")
    assert "--plan" in words_of(item, trials, KEYED, Path("out"))


def test_repetitions_take_as_often_as_long() -> None:
    kind = kind_named("repeat")
    assert longest_s(kind, 600.0, 60.0, 3) == 3 * longest_s(kind, 600.0, 60.0)


def test_a_ramp_may_wait_once_more_than_a_run() -> None:
    by_name = {kind.name: kind for kind in KINDS}
    ramp, run = (longest_s(by_name[name], 600.0, 60.0) for name in ("ramp", "run"))
    assert ramp - run == 30.0


def test_settings_are_quoted_for_a_shell() -> None:
    settings = {"max-num-seqs": "8", "enforce-eager": "true", "hf-overrides": '{"a": 1}'}
    assert settings_words(settings) == (
        """--max-num-seqs 8 --enforce-eager --hf-overrides '{"a": 1}'"""
    )

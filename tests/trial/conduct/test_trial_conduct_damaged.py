"""A description that somebody changed after its recorder was stopped is refused in a sentence, whatever was done to it."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import said, vram
from recorded_trials import described, standing
from vramledger.errors import BadInput
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.trial.conduct.resume import close_only, resume
from vramledger.trial.conduct.summary import summarise
from vramledger.trial.conduct.watch import Blind

DAMAGES: list[tuple[tuple[str, ...], Any, str]] = [
    (("load", "prompts", "style"), "fast", "load.prompts.style in its run.json has no sense there (Input should be a valid dictionary or instance of Style)"),
    (("load", "prompts", "style", "endpoint"), "chatty", "load.prompts.style.endpoint in its run.json has no sense there (Input should be 'chat' or 'completions')"),
    (("load", "prompts", "lexicon"), [1], "load.prompts.lexicon in its run.json has no sense there (Input should be a valid dictionary)"),
    (("load", "closed"), "x", "load.closed in its run.json has no sense there (Input should be a valid integer)"),
    (("load", "closed"), 0, "load.closed in its run.json has no sense there (Input should be greater than or equal to 1)"),
    (("target",), 5, "target in its run.json has no sense there (Input should be a valid dictionary or instance of Target)"),
    (("rate_scale",), 0, "rate_scale in its run.json has no sense there (Input should be greater than 0)"),
]  # fmt: skip


def damaged(folder: Path, place: tuple[str, ...], value: Any) -> Path:
    """A run that its recorder left, with a value of its description changed."""
    trial = copy.deepcopy(standing().to_json())
    inner = trial
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    pid = os.fork()
    if pid == 0:
        RecordedRun.start(folder, described(trial=trial))
        os._exit(0)  # without a word, as a recorder that is killed
    assert os.waitpid(pid, 0)[1] == 0
    return folder


@pytest.mark.parametrize(("place", "value", "sentence"), DAMAGES)
def test_a_damaged_description_is_closed_and_then_refused_in_a_sentence(
    tmp_path: Path, place: tuple[str, ...], value: Any, sentence: str
) -> None:
    folder = damaged(tmp_path / "run", place, value)
    expected = f"The run 'm w': trial.{sentence}; use an unchanged copy."
    with pytest.raises(BadInput) as refused:
        resume(folder, Blind())
    assert str(refused.value) == expected
    close_only(folder)
    with pytest.raises(BadInput) as refused:
        summarise(read_run(folder))
    assert str(refused.value) == expected


def test_a_key_that_no_style_has_is_refused_by_resume_alone(tmp_path: Path) -> None:
    style = {"endpoint": "chat", "model": "m", "nonsense": 1}
    folder = damaged(tmp_path / "run", ("load", "prompts", "style"), style)
    assert said(["trial", "resume", str(folder)], tmp_path) == (
        "The run 'm w': trial.load or trial.target in its run.json has keys or values that no trial of this version has; "
        "use an unchanged copy, or close it with --close."
    )
    done = vram(["trial", "resume", "--close", str(folder), "--json"], tmp_path)
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["requests"]["offered"] == 0


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.text(max_size=2)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=2), SCALARS, max_size=2)  # fmt: skip
PLACES: list[tuple[str, ...]] = [
    ("load",),
    ("target",),
    *((name,) for name in standing().to_json()),
]
PLACES += [("load", name) for name in standing().to_json()["load"]]
PLACES += [("load", "prompts", name) for name in ("style", "lexicon", "salt", "own")]
PLACES += [("target", name) for name in standing().to_json()["target"]]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_whatever_is_changed_there_is_a_sentence_or_a_summary(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[str, ...], value: Any
) -> None:
    from vramledger.methods.measured.contract import promised
    from vramledger.report.trial import trial_text
    from vramledger.report.trial_json import trial_json

    folder = damaged(tmp_path_factory.mktemp("damaged") / "run", place, value)
    close_only(folder)
    try:
        found = summarise(read_run(folder))
    except BadInput:
        return
    trial_json(found)
    trial_text(found)
    promised(found)

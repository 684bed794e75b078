"""trials.yaml: what is written is read back, and what a person may get wrong is refused in a sentence."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vramledger.errors import BadInput
from vramledger.methods.trialplan.budget import Budget
from vramledger.methods.trialplan.item import Item
from vramledger.methods.trialplan.proposal import Proposal
from vramledger.methods.trialplan.trials_file import Expected, read_trials, trials_text

ITEMS = (
    Item("ready", "ready", 300.0),
    Item("daily", "run", 4000.0, "daily", 3600.0, 60.0, ("daily: success >= 99.00%",)),
    Item("daily-seqs", "variation", 400.0, "daily", 60.0, 60.0, settings={"max-num-seqs": "8"}),
)
EXPECTED = (
    Expected(
        "daily",
        "success >= 99.00%",
        holds=True,
        share=1.0,
        needed=230,
        hours=0.1,
        basis="calibrated",
    ),
    Expected("daily", "ttft_s p95 <= 1", holds=False, share=0.0, needed=1, hours=0.1),
    Expected("daily", "done by 06:00", holds=None, why="a trial is not held against it"),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    until = datetime(2026, 12, 2, 18, 0, tzinfo=UTC)
    budget = Budget(datetime(2026, 12, 2, tzinfo=UTC), until, 6.0, 20.0, 2.4, "EUR")
    out = tmp_path / "trials.yaml"
    proposal = Proposal(budget, 0.95, (), ITEMS, (), (), 120.0)
    out.write_text(
        trials_text(proposal, EXPECTED, out, tmp_path / "plan.yaml", None, "http://localhost:1", 7)
    )
    found = read_trials(out)
    assert (found.items, found.expected, found.confidence) == (ITEMS, EXPECTED, 0.95)
    assert found.plan.resolve() == (tmp_path / "plan.yaml").resolve()
    assert (found.url, found.seed, found.restart_s) == ("http://localhost:1", 7, 120.0)
    again = found.budget(budget.begins, None)
    assert again == budget


HEAD = "schema: vramledger.trials/1\nplan: p.yaml\nconfidence: 0.9\nitems:\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\n", "{f} is no file of trials; vram trial plan PLAN -o trials.yaml writes one."),
        (
            HEAD + "- {name: a, kind: rnu, takes_s: 9}\n",
            "Unknown kind of trial 'rnu' in {f} line 5; the nearest known one is run.",
        ),
        (
            HEAD + "- {name: a, kind: run, takes_s: 9}\n",
            "{f} line 5 is of kind run and names no scenario; give it one.",
        ),
        (
            HEAD + "- {name: a, kind: run, takes_s: 9, scenario: d}\n",
            "{f} line 5 is of kind run and has no send_s; give it seconds above 0.",
        ),
        (
            HEAD + "- {name: a, kind: run, takes_s: 9, scenario: d, send_s: 10}\n",
            "{f} line 5 sends for 10 s and is said to take 9 s; takes_s holds warm-up, drain and closing too.",
        ),
        (
            HEAD + "- {name: a, kind: variation, takes_s: 9, scenario: d, send_s: 5}\n",
            "{f} line 5 is a variation and changes nothing; give it settings.",
        ),
        (
            HEAD + "- {name: ../a, kind: ready, takes_s: 9}\n",
            "{f} line 5 is named '../a'; letters, digits and -_.= make a name.",
        ),
        (
            HEAD + "- {name: a, kind: ready, takes_s: 9}\n- {name: a, kind: ready, takes_s: 9}\n",
            "{f} has two items named a; give each a name of its own.",
        ),
        (
            HEAD + "- {name: a, kind: ready}\n",
            "{f} line 5 has no takes_s; an item has name, kind and takes_s.",
        ),
        (HEAD + "- ready\n", "{f} line 5 is no item; an item has name, kind and takes_s."),
        (
            "schema: vramledger.trials/1\nplan: p.yaml\nconfidence: 0.9\nitems: []\n",
            "{f} lists no item, so there is nothing to run.",
        ),
        (
            "schema: vramledger.trials/1\nplann: p.yaml\n",
            "Unknown key 'plann' in {f}; the nearest known one is plan.",
        ),
        (
            "schema: vramledger.trials/1\nconfidence: 0.9\nitems:\n- {name: a, kind: ready, takes_s: 9}\n",
            "{f} lacks something or has a value of another kind ('plan'); write it anew with vram trial plan.",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "trials.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as raised:
        read_trials(file)
    assert str(raised.value) == sentence.replace("{f}", str(file))

"""What a summary says of the load, of its end, and of what happened beside the requests."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recorded_trials import described, small_trial, standing
from vramledger.record.document import Ended, Plan
from vramledger.record.journal import Entry
from vramledger.record.run import read_run
from vramledger.report.trial_events import event_sentences
from vramledger.report.trial_load import ended_words, load_words
from vramledger.trial.conduct.summary import Summary, summarise


def with_load(folder: Path, load: Mapping[str, Any], **about: Any) -> Summary:
    """The small trial, of another load."""
    stood = standing().to_json()
    trial = stood | {"load": stood["load"] | load} | about.pop("trial", {})
    return summarise(read_run(small_trial(folder, about=described(trial=trial, **about))))


@pytest.mark.parametrize(
    ("load", "trial", "words"),
    [
        ({"period_s": 90.0}, {}, "at its own rate, all of its 1 min 30 s"),
        (
            {"period_s": 7200.0, "duration_s": 30.0},
            {"rate_scale": 2.5},
            "at 2.5 times its rate, 30 s of its 2 h",
        ),
        ({"closed": 8, "duration_s": 60.0}, {}, "8 clients in a closed loop for 1 min"),
        ({"closed": 1}, {}, "1 client in a closed loop"),
    ],
)
def test_the_load_says_at_what_rate_and_for_how_long(
    load: dict[str, Any], trial: dict[str, Any], words: str, tmp_path: Path
) -> None:
    found = with_load(tmp_path / "run", load, trial=trial)
    assert load_words(found) == f"the workload; {words}; chat, prompts as token ids"


def test_the_load_names_the_scenario_and_the_plan(tmp_path: Path) -> None:
    plan = Plan(text="name: x", sha256="0" * 64)
    found = with_load(tmp_path / "run", {"period_s": 9.0}, scenario="peak", plan=plan)
    assert load_words(found).startswith("scenario peak of the plan in run.json; at its own rate")


def test_the_end_tells_a_time_asked_for_from_the_limit_of_draining(tmp_path: Path) -> None:
    found = with_load(tmp_path / "run", {})
    cut = replace(found, run=replace(found.run, description=ended(found, Ended.CUT)))
    assert ended_words(found) == "whole: all of the load was sent and ended"
    assert ended_words(cut) == "as planned: sent for the time asked for"
    at_limit = replace(cut, story=replace(cut.story, how="drain_limit"))
    assert ended_words(at_limit) == (
        "at the limit of --drain: what was still under way was cancelled"
    )


def ended(found: Summary, how: Ended) -> Any:
    return found.description.model_copy(update={"ended": how})


@pytest.mark.parametrize(
    ("event", "details", "sentence"),
    [
        (
            "gap_began",
            {
                "source": "target-0",
                "error_class": "connect_refused",
                "why": "nothing listens there",
            },
            "the metrics page of the server could not be read: nothing listens there",
        ),
        (
            "server_restarted",
            {"target": "target-0", "before": 100.0, "began_at": 130.0},
            "the server restarted, 30 s after it had started before, and its counters began anew",
        ),
        (
            "counters_fell",
            {"target": "target-0", "counters": 3, "first": "vllm:prompt_tokens_total"},
            "3 counters of the server fell, as after a restart; the first is vllm:prompt_tokens_total",
        ),
        ("prefix_cache_reset", {"done": True, "why": ""}, "the server emptied its prefix cache"),
        (
            "prefix_cache_reset",
            {"done": False, "why": "it answers 404"},
            "the prefix cache was not emptied: it answers 404",
        ),
        ("interrupted", {"how": "drained"}, "interrupted; what was under way could end"),
        (
            "drain_limit",
            {"seconds": 8.0},
            "what was still under way 8 s after the last was sent was cancelled (--drain)",
        ),
        (
            "resumed",
            {"known_to_s": 12.5, "sent": 40},
            "the run was resumed; 40 requests had been sent, and the record before is known to 12.5 s",
        ),
        ("gpu_xid", {"gpu": "GPU-0", "xid": 79}, "the driver reported Xid 79 of GPU-0"),
        ("several_servers", {"servers": 2}, "several servers (servers 2)"),
    ],
)
def test_events_are_told_in_sentences(event: str, details: dict[str, Any], sentence: str) -> None:
    assert list(event_sentences([Entry(1.25, event, details)])) == [f"at 1.2 s: {sentence}."]


def test_what_happens_again_is_told_once_with_its_count() -> None:
    gap = {"source": "gpu", "error_class": "slow", "why": "it takes longer than 0.25 s"}
    entries = [Entry(t_s, "gap_began", gap) for t_s in (1.0, 2.0, 9.0)]
    said = "the GPUs could not be read: it takes longer than 0.25 s"
    assert list(event_sentences(entries)) == [f"at 1.0 s and 2 more times: {said}."]
    assert list(event_sentences(entries[:2])) == [f"at 1.0 s and 1 more time: {said}."]

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stored_workloads import BLOCK, chats, request, reused_share, rows, stored
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.trial.load import LoadJob, open_load
from vramledger.trial.load.job import PromptSettings, load_from_json
from vramledger.trial.load.prepare import LoadAsked, Prepared, prepare_load
from vramledger.trial.load.warm_up import warm_up
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import COMPLETIONS, LENGTH, BodyStyle
from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.workload.operators.prepared import Part

STYLE = BodyStyle(COMPLETIONS, "m", length={"ignore_eos": True, "min_tokens": LENGTH})
PROMPTS = PromptSettings(STYLE, ids_lexicon(), salt=11)


def prepared(path: Path, folder: Path, scale: float = 1, **asked: Any) -> Prepared:
    scenario = asked.pop("scenario", None)
    return prepare_load(LoadAsked(Part(path, scenario, scale), PROMPTS, **asked), folder)


def load(path: Path, folder: Path, scale: float = 1, **asked: Any) -> list[PlannedRequest]:
    return list(open_load(prepared(path, folder, scale, **asked).job, 0, 1))


def prompt(planned: PlannedRequest) -> list[int]:
    found: list[int] = json.loads(planned.body)["prompt"]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return stored(tmp_path / "chats.parquet", chats(12, span_s=60))


def test_every_row_is_sent_at_its_arrival_with_its_lengths(path: Path, tmp_path: Path) -> None:
    sent = load(path, tmp_path)
    for planned, row in zip(sent, rows(path), strict=True):
        assert (planned.number, planned.row, planned.due_s) == (row["row"],) * 2 + (
            row["arrival_s"],
        )
        assert (planned.session, planned.turn, planned.tenant) == (
            row["session"],
            row["turn"],
            row["tenant"],
        )
        assert len(prompt(planned)) == planned.input_tokens == row["input_tokens"]
        body = json.loads(planned.body)
        assert (
            body["max_tokens"]
            == body["min_tokens"]
            == planned.output_tokens
            == row["output_tokens"]
        )
        assert planned.exact


def test_later_turns_wait_for_the_turn_before(path: Path, tmp_path: Path) -> None:
    assert {(planned.turn == 0, planned.think_s) for planned in load(path, tmp_path)} == {
        (True, None),
        (False, 20.0),
    }


def test_prompts_share_what_the_log_shares(path: Path, tmp_path: Path) -> None:
    seen: set[tuple[int, ...]] = set()
    again = total = 0
    for planned in load(path, tmp_path):
        ids = prompt(planned)
        for end in range(BLOCK, len(ids) + 1, BLOCK):
            again += tuple(ids[:end]) in seen
            seen.add(tuple(ids[:end]))
            total += 1
    assert again / total == reused_share(rows(path))


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_shares_of_workers_are_the_whole_load_and_keep_sessions_together(
    path: Path, tmp_path: Path, parts: int
) -> None:
    job = prepared(path, tmp_path).job
    shares = [list(open_load(job, part, parts)) for part in range(parts)]
    whole = sorted((planned for share in shares for planned in share), key=lambda each: each.number)
    assert whole == list(open_load(job, 0, 1))
    for one in shares:
        assert [each.due_s for each in one] == sorted(each.due_s or 0 for each in one)
        for other in shares:
            if one is not other:
                assert not {each.session for each in one} & {each.session for each in other}


def test_a_job_goes_through_json(path: Path, tmp_path: Path) -> None:
    job = prepared(path, tmp_path, duration_s=5.0, closed=None).job
    assert load_from_json(job.to_json()) == job
    assert load_from_json(json.loads(job.to_json())) == job


def test_the_same_question_gives_the_same_load(path: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    one, other = (load(path, folder, 1.5, seed=3) for folder in folders)
    assert one == other
    assert len(one) > len(rows(path))


def test_another_salt_is_another_text_of_the_same_lengths(path: Path, tmp_path: Path) -> None:
    job = prepared(path, tmp_path).job
    other = replace(job, prompts=replace(job.prompts, salt=12))
    pairs = zip(open_load(job, 0, 1), open_load(other, 0, 1), strict=True)
    for one, two in pairs:
        assert prompt(one)[:7] != prompt(two)[:7]
        assert one.input_tokens == two.input_tokens


def test_a_duration_cuts_the_load(path: Path, tmp_path: Path) -> None:
    sent = load(path, tmp_path, duration_s=30.0)
    assert [each.row for each in sent] == [
        row["row"] for row in rows(path) if row["arrival_s"] < 30
    ]


def test_a_longer_duration_repeats_it_with_other_people(path: Path, tmp_path: Path) -> None:
    once = load(path, tmp_path)
    job = prepared(path, tmp_path, duration_s=1000.0).job
    again = list(open_load(job, 0, 1))
    assert again[: len(once)] == once
    assert len({each.number for each in again}) == len(again)
    second = again[len(once) : 2 * len(once)]
    for first, later in zip(once, second, strict=True):
        assert first.due_s is not None
        assert later.due_s == pytest.approx(first.due_s + job.period_s)
        assert later.session != first.session
        assert later.row == first.row
        assert prompt(later)[:32] == prompt(first)[:32]  # the system prompt is everybody's
        assert prompt(later)[48:55] != prompt(first)[48:55]
    assert max(each.due_s or 0 for each in again) < 1000


def test_a_closed_loop_has_no_times_and_no_end_within_a_duration(
    path: Path, tmp_path: Path
) -> None:
    sent = load(path, tmp_path, closed=4)
    assert {(each.due_s, each.think_s) for each in sent} == {(None, None)}
    assert [each.row for each in sent] == [row["row"] for row in rows(path)]
    endless = open_load(prepared(path, tmp_path, closed=4, duration_s=1.0).job, 0, 1)
    many = [next(endless) for _ in range(3 * len(sent))]
    assert len({each.number for each in many}) == len(many)


def test_a_closed_loop_needs_no_times(tmp_path: Path) -> None:
    timeless = [request(row, input_tokens=9, output_tokens=2) for row in range(3)]
    path = stored(tmp_path / "timeless.parquet", timeless)
    assert len(load(path, tmp_path, closed=2)) == 3
    with pytest.raises(CannotKnow) as raised:
        load(path, tmp_path)
    assert str(raised.value) == (
        f"{path} has requests without times, so there is no order to send them in; vram workload "
        "synth makes arrivals for it, and --closed needs none."
    )


@pytest.mark.parametrize("closed", [None, 2])
def test_a_part_without_requests_ends_at_once(tmp_path: Path, closed: int | None) -> None:
    path = stored(
        tmp_path / "w.parquet", [request(0, arrival_s=0.0, input_tokens=9, output_tokens=2)]
    )
    job = LoadJob(str(path), PROMPTS, period_s=9.0, duration_s=90.0, closed=closed)
    assert list(open_load(job, 1, 2)) == []
    assert next(open_load(job, 0, 2)).row == 0


def test_a_workload_of_one_moment_cannot_be_repeated(tmp_path: Path) -> None:
    at_once = [request(row, arrival_s=0.0, input_tokens=9, output_tokens=2) for row in range(3)]
    path = stored(tmp_path / "w.parquet", at_once)
    assert len(load(path, tmp_path)) == 3
    with pytest.raises(BadInput) as raised:
        load(path, tmp_path, duration_s=60.0)
    assert str(raised.value) == (
        f"{path} has all its requests at one moment, so --for 60 s has no rate to go on with; leave --for "
        "out, or give --closed."
    )


def odd_rows() -> list[dict[str, Any]]:
    times = {"input_tokens": 100, "output_tokens": 7}
    return [
        request(0, arrival_s=0.0, **times),
        request(1, arrival_s=1.0, **times, outcome="cancelled", cancel_after_s=0.5),
        request(2, arrival_s=2.0, **times, outcome="timed_out", cancel_after_s=3.0, retry_of=None),
        request(3, arrival_s=3.0, **times, retry_of=2),
        request(4, arrival_s=4.0, **times, retry_of=3, outcome="timed_out"),
        request(5, arrival_s=5.0, output_tokens=7),
        request(6, arrival_s=6.0, **times, images=2),
        request(7, arrival_s=7.0, **times, audio_s=2.0),
        request(8, arrival_s=8.0, input_tokens=101),
    ]


def test_cancellations_time_outs_and_retries_happen_where_the_workload_says(tmp_path: Path) -> None:
    path = stored(tmp_path / "odd.parquet", odd_rows())
    sent = {each.row: each for each in load(path, tmp_path)}
    assert list(sent) == [0, 1, 2, 3, 4, 8]
    assert [(each.cancel_after_s, each.times_out) for each in sent.values()] == [
        (None, False),
        (0.5, False),
        (3.0, True),
        (None, False),
        (None, True),
        (None, False),
    ]
    assert [each.attempt for each in sent.values()] == [0, 0, 0, 1, 2, 0]
    assert sent[8].output_tokens == 7  # drawn: all that have an answer have one of seven tokens


def test_the_report_counts_what_is_not_as_the_workload_says(tmp_path: Path) -> None:
    report = prepared(stored(tmp_path / "odd.parquet", odd_rows()), tmp_path).report
    assert (report.rows, report.offered) == (9, 6)
    assert report.sentences() == (
        "Left out: 1 of 9 requests (11.1%), which have no known prompt length; the true load is larger.",
        "Left out: 1 of 9 requests (11.1%), which have images in the prompt; the true load is larger.",
        "Left out: 1 of 9 requests (11.1%), which have audio in the prompt; the true load is larger.",
        (
            "Answers that the workload lacks: 1; each is as long as that of another request with a prompt "
            "about as long, drawn by the seed (assumed)."
        ),
        "Requests that the client gives up when the workload's did: 2, of which 1 by a limit of time.",
        "Requests that were given up at a moment the workload does not tell: 1; they are sent to the end.",
        "Retries: 2; each is sent when the workload's was, whether or not the attempt before fails.",
    )
    assert report.to_json()["offered"] == 6


def test_prompts_shorter_than_a_template_are_sent_as_short_as_can_be(tmp_path: Path) -> None:
    lexicon = replace(ids_lexicon(), before=20, after=5)
    path = stored(
        tmp_path / "w.parquet", [request(0, arrival_s=0.0, input_tokens=24, output_tokens=1)]
    )
    asked = LoadAsked(Part(path), replace(PROMPTS, lexicon=lexicon))
    found = prepare_load(asked, tmp_path)
    assert found.report.sentences() == (
        "Prompts shorter than the 25 tokens that the server puts around each: 1 of the load's 1; they are sent with 25.",
    )
    assert prompt(next(open_load(found.job, 0, 1))) == []


def test_requests_longer_than_the_server_takes_are_foretold(tmp_path: Path) -> None:
    lengths = ((90, 10), (90, 11), (101, None), (50, 60))
    rows = [
        request(number, arrival_s=float(number), input_tokens=asked, output_tokens=answer)
        for number, (asked, answer) in enumerate(lengths)
    ]
    path = stored(tmp_path / "w.parquet", rows)
    said = (
        "Requests of more than the 100 tokens that the server takes, prompt and answer: 3 of the load's 4; they are sent, and "
        "count as it answers them."
    )
    assert said in prepared(path, tmp_path, context=100).report.sentences()
    assert said not in prepared(path, tmp_path, context=200).report.sentences()
    assert prepared(path, tmp_path).report.too_long == 0


def test_a_workload_without_a_request_that_can_be_sent_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", [request(0, arrival_s=0.0, output_tokens=1)])
    with pytest.raises(CannotKnow) as raised:
        load(path, tmp_path)
    assert str(raised.value) == (
        f"{path} has no request that can be sent: all of them have no known prompt length; import it "
        "with lengths, or with --tokenizer where texts are there."
    )


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"closed": 0}, BadInput, "--closed 0 is no number of clients; take 1 or more."),
        ({"duration_s": 0.0}, BadInput, "--for 0 s is no time; take more than 0 seconds."),
        ({"scenario": "nightmare"}, UnknownName, None),
        (
            {"closed": 2, "scale": 2},
            BadInput,
            "--closed sends as fast as answers come and --rate-scale sets a rate; give one of them.",
        ),
    ],
)
def test_options_out_of_range_are_refused(
    path: Path, tmp_path: Path, asked: dict[str, Any], error: type[Exception], message: str | None
) -> None:
    with pytest.raises(error) as raised:
        load(path, tmp_path, **asked)
    assert message is None or str(raised.value) == message


def test_warm_up_has_the_lengths_of_the_workload_and_no_prompt_of_it(
    path: Path, tmp_path: Path
) -> None:
    job = prepared(path, tmp_path).job
    found = warm_up(job, 5)
    lengths = sorted(row["input_tokens"] for row in rows(path))
    assert [each.input_tokens for each in found][:: len(found) - 1] == [lengths[0], lengths[-1]]
    assert all(each.warm_up and each.row is None and each.due_s is None for each in found)
    measured = {tuple(prompt(each)[:7]) for each in open_load(job, 0, 1)}
    again = warm_up(job, 5, first=5)
    texts = {tuple(prompt(each)[:7]) for each in (*found, *again)}
    assert len(texts) == 10
    assert not texts & measured


def test_prompts_of_ones_own_replace_made_ones(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"prompt": "one"}\n{"prompt": "two"}\n')
    asked = LoadAsked(Part(path), PromptSettings(STYLE, None, 1, str(file)))
    found = prepare_load(asked, tmp_path)
    sent = list(open_load(found.job, 0, 1))
    assert [json.loads(each.body)["prompt"] for each in sent[:3]] == ["one", "two", "one"]
    assert {each.input_tokens for each in sent} == {None}
    assert found.report.sentences() == (
        (
            "Prompts of your own are as long as they are: the lengths of prompts that the workload has are not sent, those of "
            "answers are."
        ),
        (
            "Prompts of your own: 2 for 48 requests; they repeat, so the prefix cache is warmer than under "
            "prompts that differ."
        ),
        (
            "Requests that share prefixes in the workload: 48; prompts of your own share what is alike in "
            "them instead."
        ),
    )


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    parts=st.integers(1, 5),
    duration=st.one_of(st.none(), st.floats(1, 300)),
)
def test_any_load_is_sent_whole_and_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int, parts: int, duration: float | None
) -> None:
    folder = tmp_path_factory.mktemp("load")
    draws = random.Random(seed)
    path = stored(folder / "w.parquet", drawn_rows(draws))
    job = LoadJob(str(path), PROMPTS, period_s=100.0, duration_s=duration)
    whole = list(open_load(job, 0, 1))
    shares = [each for part in range(parts) for each in open_load(job, part, parts)]
    assert sorted(shares, key=lambda each: each.number) == sorted(
        whole, key=lambda each: each.number
    )
    assert len({each.number for each in whole}) == len(whole)
    dues = [each.due_s or 0.0 for each in whole]
    assert dues == sorted(dues)
    if duration is not None:
        assert all(due < duration for due in dues)


def drawn_rows(draws: random.Random) -> list[dict[str, Any]]:
    times = sorted(draws.uniform(0, 99) for _ in range(40))
    return [
        request(
            row,
            arrival_s=time,
            input_tokens=draws.choice([None, 1, 5, 200]),
            output_tokens=draws.randrange(1, 9),
            session=draws.choice([None, 0, 1, 2]),
            images=draws.choice([None, None, 0, 1]),
        )
        for row, time in enumerate(times)
    ]

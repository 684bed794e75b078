"""The whole way against a real server: words learnt from it, requests sent, lengths and prefix hits as it counts them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehearse_server import MODEL, Rehearsed, rehearsal
from stored_workloads import BLOCK, chats, reused_share, rows, stored
from vramledger.record.outcome import Outcome
from vramledger.trial.client.single import fetch_all, fetch_one
from vramledger.trial.load import open_load
from vramledger.trial.load.job import PromptSettings
from vramledger.trial.load.prepare import LoadAsked, prepare_load
from vramledger.trial.load.warm_up import warm_up
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import CHAT, COMPLETIONS, BodyStyle
from vramledger.trial.prompts.lengths import length_control
from vramledger.trial.prompts.settle import Counters, Fetch, settle
from vramledger.trial.prompts.verification import verify
from vramledger.trial.server.asking import Asker
from vramledger.trial.wire.target import Target
from vramledger.workload.operators.prepared import Part


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    with rehearsal("--speed", "20") as running:
        yield running


def usage(server: Rehearsed, style: BodyStyle) -> Fetch:
    target = Target(server.address, style.path)

    def fetch(body: bytes) -> int | None:
        return fetch_one(target, PlannedRequest(0, None, None, body, None, 1)).input_tokens_got

    return fetch


def style_for(endpoint: str) -> BodyStyle:
    return BodyStyle(endpoint, MODEL, length=length_control("vllm").fields(endpoint))


WAYS: dict[str, Callable[[Rehearsed, BodyStyle], Counters]] = {
    "tokenizer": lambda server, style: Counters(style, usage(server, style), Asker(server.address)),
    "usage": lambda server, style: Counters(style, usage(server, style)),
    "ids": lambda server, style: Counters(style, usage(server, style), ids=True),
}


@pytest.mark.parametrize(
    ("way", "endpoint"),
    [
        ("tokenizer", CHAT),
        ("tokenizer", COMPLETIONS),
        ("usage", CHAT),
        ("usage", COMPLETIONS),
        ("ids", COMPLETIONS),
    ],
)
def test_lengths_and_shared_prefixes_are_those_of_the_log(
    server: Rehearsed, tmp_path: Path, way: str, endpoint: str
) -> None:
    style = style_for(endpoint)
    lexicon = settle(WAYS[way](server, style))
    path = stored(tmp_path / "chats.parquet", chats(10, span_s=60))
    asked = LoadAsked(
        Part(path), PromptSettings(style, lexicon, salt=hash((way, endpoint)) % 2**64), closed=1
    )
    job = prepare_load(asked, tmp_path).job
    target = Target(server.address, style.path)
    ahead = fetch_all(target, warm_up(job, 4), closed=1)
    before = server.metrics()
    records = fetch_all(target, open_load(job, 0, 1), closed=1)
    after = server.metrics()
    assert {record.outcome for record in (*ahead, *records)} == {Outcome.OK}
    report = verify([*ahead, *records])
    assert report.max_error == 0
    assert all(each.exact for each in report.outputs)
    name = "vllm:prefix_cache_hits_total"
    hits = (after[name] - before[name]) / BLOCK
    log = rows(path)
    expected = reused_share(log) * sum(row["input_tokens"] // BLOCK for row in log)
    # A block that ends a prompt holds the end of the template, not the block's own.
    cut = sum(row["input_tokens"] % BLOCK < lexicon.after for row in log)
    assert expected - cut <= hits <= expected

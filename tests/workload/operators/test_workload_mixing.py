"""Mixes and merges: rates, shares and identities of two workloads in one."""

from collections import Counter, defaultdict
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stored_workloads import BLOCK, Row, chats, column, request, reused_share, rows, stored
from vramledger.errors import BadInput, CannotKnow
from vramledger.workload.operators.merge import merge
from vramledger.workload.operators.mix import Mix, mix
from vramledger.workload.operators.slice_ import Selection, slice_workload
from vramledger.workload.store import read_metadata

LONG = 100_000  # output of the second workload, to tell it by


def batch_jobs(count: int, span_s: float) -> list[Row]:
    """Requests without sessions, evenly spread."""
    return [
        request(
            row,
            arrival_s=row * span_s / count,
            input_tokens=4 * BLOCK,
            output_tokens=LONG,
            prefix_blocks=[0, 1, 2 * row + 2, 2 * row + 3],
            model="model-0",
        )
        for row in range(count)
    ]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return stored(tmp_path / "chat.parquet", chats(500), week_offset_s=32_400)


@pytest.mark.parametrize(
    ("count", "span_s", "said"),
    [
        (5000, 3600.0, "The second workload is "),
        (300, 3600.0, "The second workload is "),
        (200, 600.0, "The second workload is shorter and is repeated "),
        (9000, 86_400.0, "The second workload is longer; what comes after the first one's end is "),
    ],
)
def test_a_mix_keeps_the_rate_and_has_the_share(
    count: int, span_s: float, said: str, chat: Path, tmp_path: Path
) -> None:
    jobs, out = stored(tmp_path / "jobs.parquet", batch_jobs(count, span_s)), tmp_path / "o.parquet"
    seeds, totals, seconds = range(8), 0, 0
    for seed in seeds:
        change = mix(chat, jobs, Mix(0.3, seed=seed), out)
        outputs = column(out, "output_tokens")
        totals += len(outputs)
        seconds += sum(tokens == LONG for tokens in outputs)
    assert any(note.startswith(said) for note in change.notes)
    assert change.after.span_s is not None
    assert change.after.span_s <= (change.before[0].span_s or 0) * 1.01
    firsts = totals - seconds
    error = sqrt(500 * 0.7 * 0.3 * len(seeds)) * 4  # of sessions of four requests
    assert abs(firsts - 0.7 * 2000 * len(seeds)) < 4 * error
    assert abs(seconds - 0.3 * 2000 * len(seeds)) < 4 * sqrt(0.3 * 2000 * len(seeds))


def test_a_mix_keeps_sessions_whole_and_models_apart(chat: Path, tmp_path: Path) -> None:
    jobs, out = stored(tmp_path / "jobs.parquet", batch_jobs(900, 3600)), tmp_path / "o.parquet"
    mix(chat, jobs, Mix(0.5), out)
    turns = defaultdict(list)
    models: dict[bool, set[str]] = {True: set(), False: set()}
    for row in rows(out):
        models[row["output_tokens"] == LONG].add(row["model"])
        if row["session"] is not None:
            turns[row["session"]].append(row["turn"])
    assert all(found == [0, 1, 2, 3] for found in turns.values())
    assert len(models[False]) == 2
    assert len(models[True]) == 1
    assert not models[True] & models[False]
    mix(chat, jobs, Mix(0.5, same_models=True), out)
    assert set(column(out, "model")) == {"model-0", "model-1"}


def test_a_mix_of_a_workload_with_itself_shares_no_block(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    mix(chat, chat, Mix(0.5), out)
    systems = Counter(row["prefix_blocks"][0] for row in rows(out))
    assert len(systems) == 2
    assert len({row["tenant"] for row in rows(out)}) == 6


def test_seeds_decide_a_mix(chat: Path, tmp_path: Path) -> None:
    jobs, out = stored(tmp_path / "jobs.parquet", batch_jobs(900, 600)), tmp_path / "o.parquet"
    made = []
    for seed in (1, 1, 2):
        mix(chat, jobs, Mix(0.4, seed=seed), out)
        made.append(out.read_bytes())
    assert made[0] == made[1] != made[2]


def test_a_mix_starts_at_its_first_request(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    for seed in range(5):
        mix(chat, chat, Mix(0.9, seed=seed), out)
        assert column(out, "arrival_s")[0] == 0
        assert read_metadata(out).metadata.week_offset_s in range(32_400, 32_400 + 3600, 60)


def test_a_merge_has_every_request_of_each_at_its_own_time(chat: Path, tmp_path: Path) -> None:
    jobs = stored(tmp_path / "jobs.parquet", batch_jobs(100, 600), week_offset_s=32_400)
    out = tmp_path / "o.parquet"
    change = merge([chat, jobs], out)
    times = [(row["arrival_s"], row["output_tokens"]) for row in rows(out)]
    given = [
        (row["arrival_s"], row["output_tokens"]) for path in (chat, jobs) for row in rows(path)
    ]
    assert sorted(times) == sorted(given)
    assert change.after.requests == sum(each.requests for each in change.before)
    assert change.after.input_tokens == sum(each.input_tokens for each in change.before)
    assert change.notes == ()


@settings(max_examples=20)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=4), st.integers(0, 99))
def test_what_was_merged_can_be_taken_apart(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[int], seed: int
) -> None:
    """With one tenant in each, a slice by tenant gives each workload back."""
    folder = tmp_path_factory.mktemp("merge")
    paths = []
    for place, count in enumerate(sessions):
        given = [row | {"tenant": 0, "model": "model-0"} for row in chats(count, seed=seed + place)]
        paths.append(stored(folder / f"{place}.parquet", given))
    merge(paths, folder / "all.parquet")
    tenants = list(dict.fromkeys(column(folder / "all.parquet", "tenant")))
    assert len(tenants) == len(paths)
    parts = []
    for tenant in tenants:
        slice_workload(folder / "all.parquet", Selection(tenant=tenant), folder / "part.parquet")
        parts.append(rows(folder / "part.parquet"))
    for path in paths:
        assert rows(path) in parts


def test_by_week_each_starts_at_its_own_hour(tmp_path: Path) -> None:
    monday = stored(tmp_path / "mo.parquet", batch_jobs(2, 10), week_offset_s=3600)
    sunday = stored(tmp_path / "su.parquet", batch_jobs(2, 10), week_offset_s=6 * 86_400)
    out = tmp_path / "o.parquet"
    merge([monday, sunday], out, by_week=True)
    later = 6 * 86_400 - 3600
    assert column(out, "arrival_s") == [0, 5, later, later + 5]
    merge([sunday, monday], out, by_week=True)
    assert column(out, "arrival_s") == [0, 5, 90_000, 90_005]
    change = merge([monday, sunday], out)
    assert change.notes == ("All clocks start at 0; hours of the week are those of the first.",)


def test_smaller_blocks_are_joined_to_the_larger_ones(tmp_path: Path) -> None:
    small = stored(tmp_path / "small.parquet", chats(50), block_tokens=16)
    large = stored(
        tmp_path / "large.parquet",
        [
            request(row, arrival_s=float(row), input_tokens=64, prefix_blocks=[0, row + 1])
            for row in range(50)
        ],
        block_tokens=32,
    )
    out = tmp_path / "o.parquet"
    change = merge([small, large], out)
    assert change.notes == ("Prefix blocks of workload 1 are joined from 16 tokens to 32.",)
    assert read_metadata(out).metadata.block_tokens == 32
    joined = [row for row in rows(out) if row["session"] is not None]
    assert [len(row["prefix_blocks"]) for row in joined] == [
        -(-len(row["prefix_blocks"]) // 2) for row in rows(small)
    ]
    assert reused_share(joined, 32) == pytest.approx(_reused_by_pairs(rows(small)))


def _reused_by_pairs(found: list[Row]) -> float:
    """The share when pairs of blocks are compared, plainly."""
    seen: set[int] = set()
    again = total = 0
    for row in found:
        pairs = row["prefix_blocks"][1 : row["input_tokens"] // 32 * 2 : 2]
        total += len(pairs)
        again += sum(block in seen for block in pairs)
        seen.update(pairs)
    return again / total


def test_blocks_that_do_not_fit_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    first = stored(tmp_path / "a.parquet", chats(5), block_tokens=24)
    second = stored(tmp_path / "b.parquet", chats(5), block_tokens=16)
    out = tmp_path / "o.parquet"
    change = merge([first, second], out)
    assert change.notes == (
        "Prefix blocks of 16 tokens do not make blocks of 24; those of workload 2 are left out.",
    )
    lists = column(out, "prefix_blocks")
    assert sum(blocks is None for blocks in lists) == 20


def test_a_merge_remembers_where_its_parts_came_from(tmp_path: Path) -> None:
    loss = {
        "rows_read": 10,
        "dropped": {"no time": 2},
        "lacks": ["No sessions."],
        "clock": {"x": 0.5},
    }
    first = stored(
        tmp_path / "a.parquet",
        chats(2),
        formats={"azure-llm": 1},
        history=("import",),
        basis={"input_tokens": "measured"},
        loss=loss,
    )
    second = stored(
        tmp_path / "b.parquet",
        chats(2),
        formats={"azure-llm": 2, "mooncake": 1},
        history=("synth",),
        basis={"input_tokens": "assumed"},
        loss=loss,
        synthetic=True,
    )
    merge([first, second], tmp_path / "o.parquet")
    found = read_metadata(tmp_path / "o.parquet").metadata
    assert found.formats == {"azure-llm": 3, "mooncake": 1}
    assert found.history == ("workload 1: import", "workload 2: synth", "merge: 2 workloads")
    assert found.basis == {"input_tokens": "assumed"}
    assert found.loss == {"rows_read": 20, "dropped": {"no time": 4}, "lacks": ["No sessions."]}
    assert found.synthetic


def test_what_cannot_be_put_together_is_refused(chat: Path, tmp_path: Path) -> None:
    timeless = stored(tmp_path / "t.parquet", [request(row) for row in range(3)])
    out = tmp_path / "o.parquet"
    with pytest.raises(BadInput, match=r"^merge takes two workloads or more; name another one\.$"):
        merge([chat], out)
    with pytest.raises(CannotKnow, match="has no times, so its requests have no place beside "):
        merge([chat, timeless], out)
    no_clock = stored(tmp_path / "n.parquet", batch_jobs(3, 10))
    with pytest.raises(CannotKnow, match="has no clock, so its hour of the week is not known; "):
        merge([chat, no_clock], out, by_week=True)
    for share in (0, 1, -0.5, float("nan")):
        with pytest.raises(BadInput, match=r"is no share; take one between 0 and 1\.$"):
            mix(chat, chat, Mix(share), out)
    short = stored(tmp_path / "s.parquet", batch_jobs(2, 0.01))
    with pytest.raises(BadInput, match=r" times to last as long as .*; make a longer one of it "):
        mix(chat, short, Mix(0.5), out)
    assert not out.exists()

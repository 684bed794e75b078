"""Drawn prefix blocks: what was seen before is what was drawn, and as much as in the log."""

from pathlib import Path

import numpy as np
import pytest

from stored_workloads import BLOCK, chats, reused_share
from synthesised import profile_of, profile_of_batches, table
from vramledger.workload.profile.bins import bin_of
from vramledger.workload.profile.profile import Prefix
from vramledger.workload.synth.sharing import SharingDraws
from vramledger.workload.synth.synthesise import synthesise

SHORT, LONG = bin_of(55), bin_of(220)
PREFIX = Prefix(
    block_tokens=16, shared_blocks=((SHORT, 0, 5), (SHORT, 2, 5), (LONG, 0, 2), (LONG, 9, 8))
)


def drawn(count: int, seed: int = 0, requests: int = 20) -> tuple[np.ndarray, list[list[int]]]:
    rng = np.random.default_rng(seed)
    inputs = np.where(rng.random(count) < 0.5, 55, 220).astype(np.int32)
    blocks = SharingDraws(PREFIX, requests).draw(inputs, None, rng)
    return inputs, blocks.to_pylist()


def seen_before(requests: list[list[int]]) -> list[int]:
    known: set[int] = set()
    found = []
    for blocks in requests:
        found.append(sum(block in known for block in blocks))
        known.update(blocks)
    return found


def test_a_request_has_all_its_full_blocks_and_no_other() -> None:
    inputs, blocks = drawn(500)
    assert [len(each) for each in blocks] == (inputs // 16).tolist()


def test_a_block_stands_for_all_before_it() -> None:
    _, requests = drawn(2000)
    heads: dict[int, tuple[int, ...]] = {}
    for blocks in requests:
        for place, block in enumerate(blocks):
            assert heads.setdefault(block, tuple(blocks[:place])) == tuple(blocks[:place])


def test_blocks_seen_before_come_at_the_profiles_shares() -> None:
    inputs, requests = drawn(20_000)
    found = np.array(seen_before(requests))
    short, long = found[inputs == 55], found[inputs == 220]
    assert set(short.tolist()) <= {0, 2}
    assert abs((short == 2).mean() - 0.5) < 4 * 0.5 / len(short) ** 0.5
    assert abs((long == 9).mean() - 0.8) < 4 * 0.4 / len(long) ** 0.5


def test_requests_without_blocks_are_as_many_as_in_the_log() -> None:
    _, requests = drawn(10_000, requests=40)
    share = np.mean([blocks is None for blocks in requests])
    assert share == pytest.approx(0.5, abs=0.02)


def test_the_reusable_share_of_conversations_is_that_of_the_log(tmp_path: Path) -> None:
    rows = sorted(chats(800), key=lambda row: float(row["arrival_s"]))
    profile = profile_of(rows, tmp_path)
    share = reused_share(rows)
    for seed in range(3):
        made = table(synthesise(profile, len(rows), seed))
        assert reused_share(made.to_pylist()) == pytest.approx(share, abs=0.02)
        again = profile_of_batches(made.to_batches(), tmp_path)
        assert again.prefix.reuse[0].block_tokens == BLOCK
        assert again.prefix.reuse[0].share == pytest.approx(profile.prefix.reuse[0].share, abs=0.02)


def test_prefix_blocks_can_be_left_out(tmp_path: Path) -> None:
    profile = profile_of(chats(50), tmp_path)
    made = table(synthesise(profile, 100, prefix=False))
    assert made["prefix_blocks"].null_count == 100

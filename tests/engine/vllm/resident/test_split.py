"""One rank's share of single tensors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.engine.vllm.resident.split import Share, Split, share_of
from vramledger.model.tensor import Role, Shard, Tensor


def tensor(shape: tuple[int, ...], shard: Shard, units: int = 1, copies: int = 1) -> Tensor:
    role = Role.EXPERT if copies > 1 else Role.MLP
    return Tensor("model.layers.0.x.weight", shape, role, shard, 0, copies, units, linear=True)


@pytest.mark.parametrize(
    ("shape", "shard", "units", "tp", "share"),
    [
        ((4096, 1024), Shard.COLUMN, 32, 4, Share(1024, 1024, 1)),
        ((1024, 4096), Shard.ROW, 32, 4, Share(1024, 1024, 1)),
        ((1024, 4096), Shard.KV, 8, 4, Share(256, 4096, 1)),
        ((1024, 4096), Shard.KV, 8, 16, Share(128, 4096, 1)),
        ((1024, 4096), Shard.REPLICATED, 1, 4, Share(1024, 4096, 1)),
        ((4096,), Shard.COLUMN, 32, 4, Share(1024, 1, 1)),
        ((32003, 4096), Shard.VOCAB, 1, 2, Share(16032, 4096, 1)),
    ],
)
def test_each_kind_of_split(
    shape: tuple[int, ...], shard: Shard, units: int, tp: int, share: Share
) -> None:
    assert share_of(tensor(shape, shard, units), Split(tp, tp, 1)) == share


def test_experts_are_cut_by_their_own_ranks_or_spread_whole() -> None:
    expert = tensor((768, 2048), Shard.COLUMN, copies=128)
    assert share_of(expert, Split(4, 8, 1)) == Share(96, 2048, 128)
    assert share_of(expert, Split(4, 1, 16)) == Share(768, 2048, 8)
    assert share_of(expert, Split(4, 1, 24)) == Share(768, 2048, 6)


@given(
    shard=st.sampled_from(list(Shard)),
    heads=st.integers(1, 64),
    width=st.integers(1, 64),
    tp=st.integers(1, 16),
)
def test_ranks_together_hold_at_least_the_whole(
    shard: Shard, heads: int, width: int, tp: int
) -> None:
    whole = tensor((heads * width, heads * width), shard, heads)
    share = share_of(whole, Split(tp, tp, 1))
    assert share.out * share.inp * tp >= whole.elements

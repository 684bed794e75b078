"""What the sentences on a start that fails say of a rank."""

from vramledger.ledger.rank import RankAccount
from vramledger.units import format_gib


def in_use(rank: RankAccount) -> float:
    """GiB of the budget that are taken, with the KV pool that fills the rest of it."""
    inside = sum(row.figure.value for row in rank.rows if row.in_budget)
    return inside + max(0.0, rank.left.value)


def fixed(rank: RankAccount) -> float:
    """GiB that are loaded whatever the load is: weights, draft model, LoRA slots."""
    return sum(rank.figure(key).value for key in ("weights", "draft", "lora"))


def biggest(rank: RankAccount) -> str:
    """The two largest rows of the budget."""
    inside = sorted((row for row in rank.rows if row.in_budget), key=lambda row: -row.figure.value)
    return " and ".join(f"{format_gib(row.figure.value)} of {row.label}" for row in inside[:2])


def activation_knob(rank: RankAccount) -> str:
    """The argument that lowers what sets the activation peak."""
    return "max_num_seqs" if rank.governed_by == "sampler" else "max_num_batched_tokens"


def place_of(rank: RankAccount) -> str:
    """Its number, and its pipeline stage where that is not the first."""
    return f"{rank.tp_rank} of stage {rank.stage}" if rank.stage else str(rank.tp_rank)


def held_by_others(rank: RankAccount) -> str:
    """What other processes hold, as the end of a clause; empty where nothing is stated."""
    held = rank.figure("neighbours").value
    return f", {format_gib(held)} of it held by other processes" if held else ""

"""A sizing on a terminal: the table, the explanation, and many cards kept short."""

from dataclasses import replace

from sizing_questions import need, question
from vramledger.engine.setting import Layout
from vramledger.evidence import Basis, Figure
from vramledger.hardware.catalogue import accelerators, find
from vramledger.report.sizing import to_text
from vramledger.sizing.candidate import (
    Candidate,
    CardResult,
    Holding,
    Link,
    Margin,
    Precision,
    Sizing,
    Smaller,
)
from vramledger.sizing.search import size

TOKENS = Figure(100_000, 90_000, 110_000, Basis.CALIBRATED, "test")
HOLDING = Holding("daily", {0.5: 30, 0.95: 20, 0.99: 15}, 500, "25%", 2, 1, 4, 800.0, TOKENS)
FITTING = Candidate(
    accelerator=find("L40S"),
    precision=Precision("fp8"),
    layout=Layout(tp=2),
    fits=True,
    reason="Each of 2 replicas holds 20 requests of daily in flight at 95% of moments.",
    replicas=2,
    gpus_low=2,
    gpus_high=8,
    kv_tokens=TOKENS,
    holdings=(HOLDING,),
    margins=(Margin("headroom of 25%", 500, 2), Margin("pessimistic end of the ledger", 90, 0)),
    idle_share=0.61,
    weights_waste_gib=1.25,
    communication_bytes=20480.0,
    link=Link("2 x L40S", 2, 1, "PCIe", 32.0, Basis.QUOTED, ""),
    servers=2,
    launch="vllm serve some/model --max-model-len 8192 --tensor-parallel-size 2 --quantization fp8",
    price_per_hour=4.4,
    quality=("FP8 weights: compare answers.",),
    memory="holds",
)
SMALLER = Smaller("TP 1", Layout(), 1, "Loading the weights fails.", ("FP8 KV cache", "less"))
FAILED = Candidate(find("T4"), Precision(), Layout(tp=8), fits=False, reason="Too big.", rule="x")
SIZING = Sizing(
    model="some/model",
    engine="vllm",
    engine_version="0.33",
    cards=(CardResult(find("L40S"), (FITTING,), SMALLER), CardResult(find("T4"), (FAILED,))),
    max_model_len=8192,
    currency="EUR",
    notes=("A note.",),
)
GOLDEN = """\
1 of 2 cards hold some/model with requests of up to 8,192 tokens. Memory was checked; speed and queueing were not.
A note.

card      GPUs  layout   precision  KV tokens  held p50/p95/p99  idle  EUR per hour  memory  speed        queue
----  --------  -------  ---------  ---------  ----------------  ----  ------------  ------  -----------  -----------
L40S  4 (2..8)  TP2 x 2  fp8          100,000  30/20/15           61%          4.40  holds   not checked  not checked

L40S: Each of 2 replicas holds 20 requests of daily in flight at 95% of moments.
  launch: vllm serve some/model --max-model-len 8192 --tensor-parallel-size 2 --quantization fp8
  server: 2 x (2 x L40S) for 2 replicas
  sent between GPUs: 20 KiB a token and GPU over PCIe, 32 GB/s a direction
  weights held more than once or padded: 1.2 GiB a replica
  margins and the GPUs each costs: headroom of 25% 2; pessimistic end of the ledger 0
  price: EUR 4.40 an hour
  owes evidence: FP8 weights: compare answers.
  smaller fails: TP 1: Loading the weights fails.
  would make it fit: FP8 KV cache, or less

Cards that do not hold it:
  T4 (TP8): Too big."""


def test_a_small_answer_is_told_whole() -> None:
    assert to_text(SIZING) == GOLDEN


def test_without_prices_there_is_no_price_column() -> None:
    free = replace(FITTING, price_per_hour=None)
    text = to_text(replace(SIZING, cards=(CardResult(find("L40S"), (free,)),)))
    assert "per hour" not in text
    assert text.startswith("L40S holds some/model")


def test_counts_that_the_limit_of_sequences_decides_are_marked() -> None:
    held = {0.5: 256, 0.95: 256, 0.99: 201}
    capped = replace(FITTING, holdings=(replace(HOLDING, held=held),), cap=256, idle_share=None)
    text = to_text(replace(SIZING, cards=(CardResult(find("L40S"), (capped,)),)))
    assert "  256/256 (cap)/201  " in text
    assert "\n(cap): --max-num-seqs decides, not memory.\n" in text
    (row,) = (line for line in text.splitlines() if line.startswith("L40S  4"))
    assert "    -  " in row  # idle, where it is not known
    assert "(cap)" not in to_text(SIZING)


def test_many_cards_take_a_row_each_and_failing_ones_a_line_a_rule() -> None:
    asked = replace(question(need(20), model="Qwen/Qwen3-32B"), accelerators=accelerators())
    text = to_text(size(asked))
    lines = text.splitlines()
    fitting = int(lines[0].split()[0])
    assert len(lines) < fitting + 20
    assert "Add --gpu NAME for a card's launch command, margins and other layouts." in lines
    assert "launch:" not in text
    summed = lines[lines.index("Cards that do not hold it:") + 1 :]
    assert sum(int(line.split()[0]) for line in summed) == len(accelerators()) - fitting
    assert any(" by platform: " in line for line in summed)


def test_every_precision_that_fits_has_a_row() -> None:
    asked = question(need(5), cards=["L40S"], weights=["as-stored", "fp8", "awq"])
    text = to_text(size(asked))
    for name in ("as-stored", "fp8", "awq"):
        assert any(line.startswith("L40S ") and f" {name} " in line for line in text.splitlines())

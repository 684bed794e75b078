"""Answers whose tokens the server does not tell, counted with a tokenizer's file."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

from rehearse_server import rehearsal
from trial_command import result_of, steady_workload, trial_run
from vramledger.record.run import read_run
from vramledger.rehearse.text.words import WORDS
from vramledger.trial.wire.chunks import read_chunk
from vramledger.trial.wire.tally import Tally


def words_tokenizer(path: Path) -> Path:
    """Every word is a token, as the rehearsal server counts its own."""
    vocabulary = {word: number for number, word in enumerate(["<unk>", *dict.fromkeys(WORDS)])}  # fmt: skip
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106 - a word
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.save(str(path))
    return path


def test_tokens_of_chunks_of_several_are_counted_where_nobody_tells_them(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 10)
    words = words_tokenizer(tmp_path / "tokenizer.json")
    truth = tmp_path / "truth.csv"
    faults = ("--fault", "no-usage", "--fault", "tokens-per-chunk:4")
    with rehearsal(*faults, truth=truth) as server:
        options = ("--json", "--api", "completions", "--tokenizer", str(words))
        done = trial_run(server.address, workload, tmp_path / "run", *options)
        sent = [int(row["output_tokens"]) for row in server.true_rows()]
    found = result_of(done)
    assert found["requests"]["ok"] == 10
    rows = read_run(tmp_path / "run").requests.read().to_pylist()
    assert {row["tokens_basis"] for row in rows} == {"tokenizer"}  # of the warm-up too
    measured = [row for row in rows if row["row"] is not None]
    assert [row["output_tokens_got"] for row in measured] == [row["output_tokens_asked"] for row in measured]  # fmt: skip
    assert sorted(row["output_tokens_got"] for row in measured) == sorted(sent[-10:])
    assert all(len(row["chunk_offset_us"]) < row["output_tokens_got"] for row in measured)


def test_a_server_that_counts_is_believed() -> None:
    tally = Tally(keep_text=True)
    tally.add(read_chunk(b'{"choices":[{"delta":{"content":"a b c"}}]}'), 1)
    tally.add(read_chunk(b'{"choices":[],"usage":{"completion_tokens":7}}'), 2)
    found = tally.counted(lambda _: 99)
    assert (found.total, found.basis) == (7, "usage")


def test_thinking_and_answer_are_counted_apart_and_then_together() -> None:
    tally = Tally(keep_text=True)
    for moment, delta in enumerate(("reasoning_content", "reasoning_content", "content")):
        data = b'{"choices":[{"delta":{"%b":"ab cd"}}]}' % delta.encode()
        tally.add(read_chunk(data), moment)
    found = tally.counted(lambda text: len(text.split()))
    assert (found.total, found.basis) == (3 + 2, "tokenizer")  # "ab cdab cd" and "ab cd"


def test_what_cannot_be_told_to_be_one_text_is_not_counted() -> None:
    tally = Tally(keep_text=True)
    data = b'{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}'
    tally.add(read_chunk(data), 1)
    found = tally.counted(lambda _: 99)
    assert (found.total, found.basis) == (1, "chunks")

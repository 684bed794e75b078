"""Whether a run sent exactly the load of a challenge: its rows, lengths, moments and texts, once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.contents import challenge_of
from vramledger.bundle.loads import load_of
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.workload.challenge import drawn, is_whole, salt_of

if TYPE_CHECKING:
    from vramledger.record.run import Run

_OFF_S: Final = 0.01  # by which a request may be due otherwise: clocks are floats
_ROW: Final = ("row", "output_tokens", "input_tokens", "arrival_s", "think_s")
_SENT: Final = ("row", "attempt", "output_tokens_asked", "input_tokens_asked", "due_s")


@frozen
class _Wanted:
    """A row of the challenge; `think_s` stands where it waits for the one before it."""

    output_tokens: int | None
    input_tokens: int | None
    arrival_s: float | None
    think_s: float | None


def answers(run: "Run", challenge: Mapping[str, Any], folder: Path) -> str | None:
    """None where it did; else why not, as the rest of a sentence."""
    if not is_whole(challenge):
        return "the challenge was changed after it was drawn"
    load = load_of(folder, str(challenge["workload_sha256"]))
    if load is None:
        return "its load is not there"
    return (
        _drawn_otherwise(challenge, folder)
        or _says_otherwise(run, challenge)
        or _sent_otherwise(run, folder / load)
    )


def _drawn_otherwise(challenge: Mapping[str, Any], folder: Path) -> str | None:
    """Whether stretch and seed are those of the nonce, where the workload is there that it was drawn from."""
    from vramledger.workload.operators.columns import read

    source = load_of(folder, str(challenge["source_sha256"]))
    if source is None:
        return None
    try:
        arrivals = read(folder / source, "arrival_s").values
    except VramError:
        return "the workload that it was drawn from cannot be read"
    window_s = (challenge["to_ms"] - challenge["from_ms"]) / 1000
    span_s = float(arrivals.max()) if len(arrivals) else 0.0
    wanted = drawn(str(challenge["nonce"]), str(challenge["source_sha256"]), span_s, window_s)
    if wanted != (challenge["from_ms"], challenge["seed"]):
        return "the nonce does not draw this stretch or this seed"
    return None


def _says_otherwise(run: "Run", challenge: Mapping[str, Any]) -> str | None:
    """What run.json says that the challenge does not."""
    about = run.description
    found = (about.model_extra or {}).get("trial")
    trial: Mapping[str, Any] = found if isinstance(found, dict) else {}
    load = trial.get("load") if isinstance(trial.get("load"), dict) else {}
    began, moment = about.started_at, str(challenge["drawn_at"]).rstrip("Z")
    wrong = (
        (challenge_of(run) != challenge, "it carries another challenge, or none"),
        (about.workload_sha256 != challenge["workload_sha256"], "it sent another workload"),
        (
            about.seed != challenge["seed"],
            f"its seed is {about.seed}, and the nonce gives {challenge['seed']}",
        ),
        (trial.get("rate_scale", 1.0) != 1, "it changed the rate of arrivals"),
        (
            bool(load and (load.get("closed") or load.get("duration_s"))),
            "it sent in a closed loop or for a time, and not as the load arrives",
        ),
        (began is not None and began < moment, "it began before the challenge was drawn"),
    )
    return next((why for is_so, why in wrong if is_so), None) or _other_texts(load or {}, challenge)


def _other_texts(load: Mapping[str, Any], challenge: Mapping[str, Any]) -> str | None:
    """Texts follow from salt, words and rows; the salt has to be that of the nonce."""
    prompts = load.get("prompts") if isinstance(load.get("prompts"), dict) else {}
    if prompts and prompts.get("own") is not None:
        return "it sent prompts of its own"
    if not prompts or prompts.get("salt") != salt_of(challenge):
        return "its prompts are not those of the nonce"
    return None


def _sent_otherwise(run: "Run", workload: Path) -> str | None:
    """Whether rows are missing, strange, or have other lengths or moments than in the workload."""
    try:
        sent = run.requests.read(_SENT).to_pylist()
        asked = _rows(workload)
    except VramError:
        return "its load cannot be read"
    rows = [each for each in sent if each["row"] is not None]
    strange = next((each["row"] for each in rows if each["row"] not in asked), None)
    if strange is not None:
        return f"it sent row {strange}, which the challenge does not have"
    there = {each["row"] for each in rows}
    missing = next((row for row in asked if row not in there), None)
    if missing is not None:
        return f"row {missing} of the challenge was not sent"
    return next(_others(rows, asked), None)


def _others(rows: list[dict[str, Any]], asked: Mapping[int, _Wanted]) -> Iterator[str]:
    """Rows that were sent otherwise than the challenge has them."""
    begin: float | None = None
    tried: set[int] = set()
    for each in rows:
        row, wanted = each["row"], asked[each["row"]]
        out, prompt = each["output_tokens_asked"], each["input_tokens_asked"]
        if out is not None and wanted.output_tokens is not None and out != wanted.output_tokens:
            yield f"row {row} asked for {out} tokens, and the challenge has {wanted.output_tokens}"
        if prompt is not None and wanted.input_tokens is not None and prompt < wanted.input_tokens:
            yield (
                f"row {row} had a prompt of {prompt} tokens, and the challenge has {wanted.input_tokens}"
            )
        if each["attempt"]:
            continue
        if row in tried:
            yield f"row {row} was sent more than once"
        tried.add(row)
        if wanted.arrival_s is not None and wanted.think_s is None:
            since = each["due_s"] - wanted.arrival_s
            begin = since if begin is None else begin
            if abs(since - begin) > _OFF_S:
                yield f"row {row} was due {since - begin:+.3f} s from where the challenge has it"


def _rows(workload: Path) -> dict[int, _Wanted]:
    """Every row that can be sent."""
    import pyarrow as pa

    from vramledger.trial.load.sendable import COLUMNS, sent
    from vramledger.workload.store import read_batches

    found: dict[int, _Wanted] = {}
    for batch in read_batches(workload, tuple(dict.fromkeys((*_ROW, *COLUMNS)))):
        kept = batch.filter(pa.array(sent(batch)))
        columns = [kept.column(name).to_pylist() for name in _ROW]
        found.update((row, _Wanted(*rest)) for row, *rest in zip(*columns, strict=True))
    return found

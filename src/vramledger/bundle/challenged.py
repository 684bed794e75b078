"""Whether a run sent exactly the load of a challenge."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.contents import challenge_of, workload_name
from vramledger.errors import VramError
from vramledger.workload.challenge import is_whole

if TYPE_CHECKING:
    from vramledger.record.run import Run


def answers(run: "Run", challenge: Mapping[str, Any], folder: Path) -> str | None:
    """None where it did; else why not, as the rest of a sentence."""
    if not is_whole(challenge):
        return "the challenge was changed after it was drawn"
    return _says_otherwise(run, challenge) or _sent_otherwise(
        run, folder / workload_name(str(challenge["workload_sha256"]))
    )


def _says_otherwise(run: "Run", challenge: Mapping[str, Any]) -> str | None:
    """What run.json says that the challenge does not."""
    about = run.description
    trial = (about.model_extra or {}).get("trial")
    rate = trial.get("rate_scale", 1.0) if isinstance(trial, dict) else 1.0
    began, drawn = about.started_at, str(challenge["drawn_at"]).rstrip("Z")
    wrong = (
        (challenge_of(run) != challenge, "it carries another challenge, or none"),
        (about.workload_sha256 != challenge["workload_sha256"], "it sent another workload"),
        (
            about.seed != challenge["seed"],
            f"its seed is {about.seed}, and the nonce gives {challenge['seed']}",
        ),
        (rate != 1, "it changed the rate of arrivals"),
        (began is not None and began < drawn, "it began before the challenge was drawn"),
    )
    return next((why for is_so, why in wrong if is_so), None)


def _sent_otherwise(run: "Run", workload: Path) -> str | None:
    """Whether rows are missing, more than once there, or have other lengths than in the workload."""
    try:
        sent = run.requests.read(("row", "attempt", "output_tokens_asked")).to_pydict()
        asked = _lengths(workload)
    except VramError:
        return "its load cannot be read"
    measured = [row for row in sent["row"] if row is not None]
    strange = next((row for row in measured if row not in asked), None)
    if strange is not None:
        return f"it sent row {strange}, which the challenge does not have"
    there = set(measured)
    missing = next((row for row in asked if row not in there), None)
    if missing is not None:
        return f"row {missing} of the challenge was not sent"
    for row, tokens in zip(sent["row"], sent["output_tokens_asked"], strict=True):
        wanted = None if row is None else asked[row]
        if tokens is not None and wanted is not None and tokens != wanted:
            return f"row {row} asked for {tokens} tokens, and the challenge has {wanted}"
    return None


def _lengths(workload: Path) -> dict[int, int | None]:
    """The answer's tokens of every row that can be sent."""
    import pyarrow as pa

    from vramledger.trial.load.sendable import COLUMNS, sent
    from vramledger.workload.store import read_batches

    found: dict[int, int | None] = {}
    names = tuple(dict.fromkeys(("row", "output_tokens", *COLUMNS)))
    for batch in read_batches(workload, names):
        kept = batch.filter(pa.array(sent(batch)))
        rows, tokens = (kept.column(name).to_pylist() for name in ("row", "output_tokens"))
        found.update(zip(rows, tokens, strict=True))
    return found

"""Whether the server had seen the prompts of a challenge before: more was in its cache than the load itself repeats.

The texts of a challenge are new to the world until it is sent. A prefix cache that has them was filled by an earlier try. That
shows only where the server says what it had cached, and where nobody emptied its cache in between.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.run import Run

_SLACK: Final = 0.01  # of the prompts' tokens, where each answer tells
_SLACK_COUNTED: Final = (
    0.05  # the same of counters, whose pages begin and end a little beside the load
)
_MOST_OTHERS: Final = (
    0.2  # of the prompts' tokens: with more, counters are not of these requests alone
)
_NAMES: Final = ("row", "attempt", "cached_tokens", "input_tokens_got")


@frozen
class Cached:
    """Tokens of prompts: all, those the server had, and the most it can have had of what the run itself sent before."""

    prompts: int
    cached: int
    repeated: int
    slack: float

    @property
    def shows_an_earlier_try(self) -> bool:
        """Whether more was there than the run can have put there."""
        return self.cached > self.repeated + self.slack * self.prompts


def cached(run: "Run", workload: Path) -> Cached | None:
    """By what the answers tell, else by the server's counters; None where neither tells of these requests alone.

    Raises:
        VramError: run or workload cannot be read.
    """
    sent = [
        each
        for each in run.requests.read(_NAMES).to_pylist()
        if each["row"] is not None and each["input_tokens_got"] is not None
    ]
    around = _around(run.description.model_extra or {})
    own = {row: again + around for row, again in _repeated(workload)}
    told = [each for each in sent if not each["attempt"] and each["cached_tokens"] is not None]
    if told:
        return Cached(
            sum(each["input_tokens_got"] for each in told),
            sum(each["cached_tokens"] for each in told),
            sum(own.get(each["row"], 0) for each in told),
            _SLACK,
        )
    prompts = sum(each["input_tokens_got"] for each in sent)
    repeats = sum(
        each["input_tokens_got"] if each["attempt"] else own.get(each["row"], 0) for each in sent
    )
    return _counted(run, prompts, repeats)


def _counted(run: "Run", prompts: int, repeats: int) -> Cached | None:
    """By the counters of the metrics page, where nobody else was served and nothing was computed twice."""
    from vramledger.trial.conduct.history import story_of
    from vramledger.trial.conduct.server_side import server_side

    seen = server_side(run, story_of(run.journal().entries).spans, None)
    share, looked_up = seen.prefix_hit_share, seen.prompt_tokens
    if not prompts or share is None or looked_up is None or seen.preemptions:
        return None
    if abs(looked_up - prompts) > _MOST_OTHERS * prompts:
        return None
    return Cached(prompts, round(share * looked_up), repeats, _SLACK_COUNTED)


def _around(extra: Mapping[str, Any]) -> int:
    """Tokens that every prompt of a run has in common: template and lead."""
    found: Any = extra
    for name in ("trial", "load", "prompts", "lexicon"):
        found = found.get(name) if isinstance(found, dict) else None
    before = found.get("before") if isinstance(found, dict) else None
    return before if isinstance(before, int) and before > 0 else 0


def _repeated(workload: Path) -> Iterator[tuple[int, int]]:
    """Each row with the tokens at its beginning that an earlier row had."""
    from vramledger.workload.store import read_batches, read_metadata

    block = read_metadata(workload).metadata.block_tokens or 0
    seen: set[int] = set()
    for batch in read_batches(workload, ("row", "prefix_blocks")):
        rows, blocks = (batch.column(name).to_pylist() for name in ("row", "prefix_blocks"))
        for row, prefix in zip(rows, blocks, strict=True):
            again = 0
            for each in prefix or ():
                if each not in seen:
                    break
                again += 1
            seen.update(prefix or ())
            yield row, again * block

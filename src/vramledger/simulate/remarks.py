"""What a reader must know of how requests ended: refused, cut short, or computed again."""

from math import isinf
from typing import TYPE_CHECKING, Final

from vramledger.simulate.fast.records import INCOMPLETE, REJECTED, TIMED_OUT

_NO_MATTER: Final = 1.02  # of two figures
_MANY: Final = 0.01  # the share of preempted requests from which a deployment relies on it

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vramledger.simulate.answers import Answers
    from vramledger.simulate.figures import Figures
    from vramledger.simulate.settings import Settings


def remarks(figures: "Figures", settings: "Settings") -> "Iterator[str]":
    """One note for each kind of ending that is not what was asked for.

    That an answer which is computed again may come out otherwise was reported at
    https://github.com/vllm-project/vllm/issues/11805: other batches round otherwise.
    """
    found, limit = figures.found, settings.max_model_len
    rejected = int((found["ending"] == REJECTED).sum())
    if rejected:
        yield (
            f"{_requests(rejected)} rejected: the engine refuses prompts that leave no room below "
            f"max_model_len ({limit:,} tokens)."
        )
    short = int((found["ending"] == INCOMPLETE).sum())
    if short:
        yield (
            f"{_requests(short)} incomplete: the answer ends at max_model_len ({limit:,} tokens), or "
            "never came."
        )
    late = int((found["ending"] == TIMED_OUT).sum())
    if late:
        yield (
            f"{_requests(late)} timed out: the client leaves when its limit is reached, and the request counts as "
            "failed; what was computed of it stays in the load."
        )
    evicted = int((found["preemptions"] > 0).sum())
    if evicted:
        yield (
            f"{_requests(evicted)} preempted, {_times(int(found['preemptions'].sum()))} in all, and "
            f"computed again, which can also change an answer{_lives_on_it(evicted, len(found))}. A larger "
            "KV cache, less load or a smaller --max-num-seqs ends it."
        )


def hit_remarks(own: "Answers", without: "Answers") -> "Iterator[str]":
    """A remark where prefix hits, which should help, do not."""
    with_hits, none = own.latency["ttft_s"].p95, without.latency["ttft_s"].p95
    if with_hits is None or none is None or isinf(with_hits) or with_hits <= none * _NO_MATTER:
        return
    yield (
        f"TTFT p95 is longer with the workload's prefix hits than without ({with_hits:.3g} s, not {none:.3g} s): requests "
        "with hits reach their answers sooner, which can leave fewer tokens and blocks to those that wait. Compare "
        "running, KV use and limit of the two parts."
    )


def _lives_on_it(evicted: int, offered: int) -> str:
    rare = evicted < _MANY * offered
    return "" if rare else ": at this load the deployment lives on preemption"


def _requests(count: int) -> str:
    return "1 request is" if count == 1 else f"{count:,} requests are"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"

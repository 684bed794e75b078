"""What the requests themselves tell: whether both sides were sent the same, and how long the answers were."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.compare.difference import Difference, Kind
from vramledger.compare.fields import title_of
from vramledger.compare.matching import Pairs
from vramledger.compare.told import Told

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_EXACT_S: Final = 0.005  # of a schedule that the workload decides
_LOOSE: Final = 0.01  # of the load's length, where the client's own stamps are all there is


def sent_differently(pairs: Sequence[Pairs], a: Told, b: Told) -> Iterator[Difference]:
    """Over all pairs of runs, the first difference of each kind."""
    closed = any(told.settings.get("closed") is not None for told in (a, b))
    imported = any(told.description.origin.value == "imported" for told in (a, b))
    sent = [one for one in pairs if len(one)]
    if not closed:
        yield from _first(_arrivals(one, loose=imported) for one in sent)
    yield from _first(
        _lengths(one, "output_tokens_asked", "output_tokens_asked", Kind.CHANGE) for one in sent
    )
    yield from _first(_prompts(one) for one in sent)
    yield from _first(
        _lengths(one, "output_tokens_got", "output_tokens_got", Kind.ASIDE) for one in sent
    )


def _first(found: Iterator[Difference | None]) -> Iterator[Difference]:
    first = next((each for each in found if each is not None), None)
    if first is not None:
        yield first


def _arrivals(pairs: Pairs, *, loose: bool) -> Difference | None:
    """In an open loop the same request is due at the same second of the load."""
    import numpy as np

    one, other = (_since_first(side.columns["due_s"]) for side in (pairs.a, pairs.b))
    known = ~np.isnan(one) & ~np.isnan(other)
    if known.sum() < 2:
        return None
    off = float(np.abs(one[known] - other[known]).max())
    most = max(0.05, _LOOSE * float(one[known].max())) if loose else _EXACT_S
    if off <= most:
        return None
    return Difference("arrivals", title_of("arrivals"), f"{float(one[known].max()):.4g} s in all", f"{float(other[known].max()):.4g} s in all", Kind.CHANGE, f"up to {off:.3g} s apart")  # fmt: skip


def _since_first(due: "Floats") -> "Floats":
    found: Floats = due - due[0]
    return found


def _prompts(pairs: Pairs) -> Difference | None:
    found = _lengths(pairs, "input_tokens_got", "input_tokens", Kind.CHANGE)
    return found or _lengths(pairs, "input_tokens_asked", "input_tokens", Kind.CHANGE)


def _lengths(pairs: Pairs, column: str, name: str, kind: Kind) -> Difference | None:
    """Of pairs that both ended as asked."""
    import numpy as np

    one, other = (side.columns[column][pairs.both_ok] for side in (pairs.a, pairs.b))
    known = ~np.isnan(one) & ~np.isnan(other)
    differ = int((one[known] != other[known]).sum())
    if not differ:
        return None
    means = [f"{float(each[known].mean()):,.1f} tokens on average" for each in (one, other)]
    why = f"in {differ:,} of {int(known.sum()):,} pairs"
    if kind is Kind.ASIDE:
        why += (
            "; what answers come to is a result, and effects at equal length are beside the others"
        )
    return Difference(name, title_of(name), means[0], means[1], kind, why)

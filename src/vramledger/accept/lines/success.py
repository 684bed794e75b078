"""The share of requests that ended as asked, of all but those who left as planned while no limit was broken."""

from collections import Counter
from collections.abc import Iterator

from vramledger.accept.lines.about import REQUESTS, About
from vramledger.accept.settling import in_words, more_requests
from vramledger.accept.verdict import Line, Said, held
from vramledger.simulate.judged import counted_for_success
from vramledger.statistics.estimate import share_of


def success_line(about: About) -> Iterator[Line]:
    """The line, where the contract has one."""
    import numpy as np

    least = about.scenario.contract.success
    if least is None:
        return
    asked, served = f"success >= {least:.2%}", about.offered.served
    ok = served.ok[counted_for_success(about.scenario.contract, served)].astype(np.float64)
    found = share_of(ok, about.level)
    if found is None:
        yield Line(asked, Said.INCONCLUSIVE, "0..1", threshold=least, reason="there was nothing to count", records=(REQUESTS,))  # fmt: skip
        return
    said = held(found.low, found.high, least, at_least=True)
    settles = ""
    if said is Said.INCONCLUSIVE:
        more = more_requests(float(ok.sum()), found.counted, found.independent, least, about.one_sided)  # fmt: skip
        settles = in_words(more, about.per_minute)
    yield Line(
        asked, said, "0..1", found.value, found.low, found.high, least, _words(about, said), (REQUESTS,), round(found.counted),
        found.independent, settles,
    )  # fmt: skip


def _words(about: About, said: Said) -> str:
    """What the others came to, and why it is open."""
    ends = Counter(about.offered.found.outcome.tolist())
    others = ", ".join(f"{count:,} {name}" for name, count in sorted(ends.items()) if name != "ok")
    open_words = "the limit lies within the interval" if said is Said.INCONCLUSIVE else ""
    return "; ".join(filter(None, (open_words, others)))

"""How the latencies of a run are distributed, against the limits that were promised."""

from collections.abc import Iterator
from typing import Final

from vramledger.record.overview.distribution import Distribution
from vramledger.report.html.axes import seconds_log, shares
from vramledger.report.html.strips import Chart, Curve, Kind, Strip
from vramledger.report.html.titled_table import Table
from vramledger.report.run_report.gathered import TITLES
from vramledger.report.run_report.model import RunReport
from vramledger.report.run_report.over_time import latency_words

_ROLES: Final = {
    "ttft_s": "input",
    "itl_s": "compute",
    "tpot_s": "input + output",
    "e2e_s": "output",
    "queue_s": "grid",
}
_DASHES: Final = {"tpot_s": "dash", "queue_s": "dot"}
_LISTED: Final = (0.5, 0.9, 0.95, 0.99, 0.999, 1.0)


def distributions(run: RunReport) -> Chart | None:
    """None where there is nothing to draw."""
    found = {} if run.timeline is None else run.timeline.distributions
    shown = {name: found[name] for name in TITLES if name in found}
    if not shown:
        return None
    curves = [_curve(name, each) for name, each in shown.items()]
    limits = list(_limits(run, shown))
    x = seconds_log(value for each in (*curves, *limits) for value in each.x)
    told = (
        " Red dots are the limits of the contract: a curve must pass above or left of them."
        if limits
        else ""
    )
    return Chart(
        f"{run.key}-latencies",
        "Distribution of the latencies",
        "The share of all that was offered that took no longer, from when it was due; a curve that ends below 100 % had failures. ITL is of single gaps "
        f"between chunks, TPOT one mean a request.{told}",
        x,
        "seconds, logarithmic",
        (Strip("Share that took no longer", shares(), (*curves, *limits)),),
        _table(shown),
        height=280,
    )


def _curve(name: str, found: Distribution) -> Curve:
    return Curve(
        TITLES[name],
        _ROLES[name],
        Kind.LINE,
        found.values.tolist(),
        found.shares.tolist(),
        dash=_DASHES.get(name, ""),
    )


def _limits(run: RunReport, shown: dict[str, Distribution]) -> Iterator[Curve]:
    """The percentiles of the contract on latencies that are drawn."""
    for each in run.ruling.lines:
        name, _, rest = each.name.partition(" p")
        share = rest.partition(" ")[0]
        if name in shown and each.threshold is not None and share.replace(".", "", 1).isdigit():
            yield Curve(each.name, "limit", Kind.MARKS, [each.threshold], [float(share) / 100])


def _table(shown: dict[str, Distribution]) -> Table:
    rows = tuple(
        (TITLES[name], f"{each.count:,.0f}", *(latency_words(each.at(part)) for part in _LISTED))
        for name, each in shown.items()
    )
    head = ("", "values", *(f"p{part * 100:g}" for part in _LISTED[:-1]), "max")
    return Table("Distribution of the latencies", head, rows, frozenset(range(1, len(head))))

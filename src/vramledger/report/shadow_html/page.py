"""The page: the verdict, the figures beside the noise, how long answers stay the same, and where kept texts part."""

from collections.abc import Sequence
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.result import Shadow, Texts
from vramledger.report.html.figure import Figure
from vramledger.report.html.page import rendered
from vramledger.report.html.series import line, series
from vramledger.report.html.titled_table import Table
from vramledger.report.shadow import HEAD, asked_line, notes, rows, side_line

_PACKAGE: Final = "vramledger.report.shadow_html"
_MOST_SHOWN: Final = 200


@frozen
class Beside:
    """One prompt with both answers: what they share, and what each says from where they part."""

    number: int
    prompt: str
    same: str
    a: str
    b: str


def to_html(found: Shadow, basis: str) -> str:
    """One self-contained page; texts stand in it only where they were kept."""
    figure = _lasting(found)
    return rendered(
        _PACKAGE,
        [figure],
        lasting=figure,
        headline=f"{found.verdict.verdict}: {found.verdict.reason}",
        sides=(f"A: {side_line(found.a)}", f"B: {side_line(found.b)}", asked_line(found)),
        shown=Table("Figures, with 95 % intervals", HEAD, tuple(rows(found)), frozenset({1, 2})),
        beside=[_beside(place, each) for place, each in list(found.texts.items())[:_MOST_SHOWN]],
        notes=tuple(notes(found)),
        mark=" (rehearsed)" if basis == "rehearsed" else "",
    )


def surviving(pairs: Sequence[Pair]) -> tuple[list[float], list[float]]:
    """Kaplan and Meier's share of answers still the same, as steps by place; begins at place 0 with all."""
    places, shares = [0.0], [1.0]
    for place in sorted({each.agreed + 1 for each in pairs if each.parted}):
        at_risk = sum(each.positions >= place for each in pairs)
        gone = sum(each.parted and each.agreed + 1 == place for each in pairs)
        places.append(float(place))
        shares.append(shares[-1] * (1 - gone / at_risk))
    return places, shares


def _lasting(found: Shadow) -> Figure:
    places, shares = surviving(found.pairs)
    last = float(max((each.positions for each in found.pairs), default=0))
    places, shares = [*places, last], [*shares, shares[-1]]
    said = "%{y:.1%} still the same before token %{x}<extra></extra>"
    curve = line(
        "B against A", "output", series(places), series(shares), said, line={"shape": "hv"}
    )
    table = Table(
        "Answers still the same",
        ("place", "share"),
        tuple(
            (f"{place:.0f}", f"{share:.1%}") for place, share in zip(places, shares, strict=True)
        ),
        frozenset({0, 1}),
    )
    return Figure(
        "lasting",
        "How long answers stay the same",
        "The share of answers that have not parted, by the place of the token; answers that ended before are out of the count.",
        (curve,),
        {
            "xaxis": {"title": {"text": f"place in the answer, {found.unit}"}},
            "yaxis": {
                "title": {"text": "share of answers"},
                "tickformat": ".0%",
                "range": [0, 1.02],
            },
        },
        table,
    )


def _beside(number: int, texts: Texts) -> Beside:
    pairs = enumerate(zip(texts.a, texts.b, strict=False))
    shorter = min(len(texts.a), len(texts.b))
    same = next((place for place, (x, y) in pairs if x != y), shorter)
    return Beside(number, texts.prompt, texts.a[:same], texts.a[same:], texts.b[same:])

"""Numbers of a curve as a page holds them."""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, Final

_DIGITS: Final = 5


def series(values: Iterable[float], scale: float = 1.0) -> list[float | None]:
    """Each over `scale`, to five digits; what is no finite number is null, a hole in the curve."""
    return [_short(float(value) / scale) if isfinite(value) else None for value in values]


def positive(values: Iterable[float]) -> list[float | None]:
    """As `series`, for a logarithmic axis: what is not above zero is a hole."""
    return [value if value is not None and value > 0 else None for value in series(values)]


def _short(value: float) -> float | int:
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short


def line(
    name: str, role: str, x: Sequence[Any], y: Sequence[Any], said: str, **more: Any
) -> dict[str, Any]:
    """A curve in the colour of its role; `said` is what its points say when pointed at."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": role,
        "x": list(x),
        "y": list(y),
        "hovertemplate": said,
        **more,
    }


def band(
    name: str, role: str, x: Sequence[Any], low: Sequence[Any], high: Sequence[Any], **more: Any
) -> Iterator[dict[str, Any]]:
    """The area between two curves; two traces, of which the second fills."""
    edge = {"line": {"width": 0}, "hoverinfo": "skip", "legendgroup": name, **more}
    yield {**line(name, role, x, low, "", **edge), "showlegend": False}
    yield {**line(name, role, x, high, "", **edge), "fill": "tonexty"}


def across(name: str, role: str, ends: Sequence[float], y: float, **more: Any) -> dict[str, Any]:
    """A dashed line at one height, from the first of `ends` to the second."""
    style = {"dash": "dash", "width": 1.5}
    return line(name, role, ends, [y, y], f"{name}<extra></extra>", line=style, **more)

"""ServeGen's description of rates: for each client, windows of arrivals and tables of lengths.

Source: https://github.com/alibaba/ServeGen (README, data/language/...); Xiang et al., NSDI 2026.
`chunk-N-trace.csv` has no header: start of a 600 s window in s, requests per s, cv of the gaps, the
distribution fitted to them, its shape, its scale. `chunk-N-dataset.json` has, by start of a 6 h window,
`input_tokens` and `output_tokens`, each a text "{tokens: share, ...}". The two are independent.
"""

import gzip
import itertools
import json
import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_TRACE: Final = "-trace.csv"
_DATASETS: Final = ("-dataset.json", "-dataset.json.gz")
_ITEM: Final = re.compile(r"\s*(\d{1,10})\s*:\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)\s*")
_WINDOW_S: Final = 600.0  # of the last window, whose end no line states
_MOST_BYTES: Final = 256 << 20


@frozen
class Window:
    """Arrivals at one rate. `shape` is None where the fitted distribution is none of ours."""

    start_s: float
    seconds: float
    per_s: float
    cv: float
    gaps: str  # "Gamma", "Weibull", or what the file says
    shape: float | None


@frozen
class LengthTable:
    """Lengths and their shares, from `start_s` on."""

    start_s: float
    inputs: tuple[tuple[int, float], ...]
    outputs: tuple[tuple[int, float], ...]


@frozen
class Client:
    """One chunk of ServeGen."""

    windows: tuple[Window, ...]
    tables: tuple[LengthTable, ...]  # by start, at least one


@frozen
class Description:
    """All clients."""

    clients: tuple[Client, ...]

    @property
    def period_s(self) -> float:
        """From 0 to the end of the last window."""
        return max(w.start_s + w.seconds for client in self.clients for w in client.windows)

    @property
    def mean_per_s(self) -> float:
        requests = sum(w.per_s * w.seconds for client in self.clients for w in client.windows)
        return requests / self.period_s


def is_servegen(path: Path) -> bool:
    """Whether the path is a folder with a trace of ServeGen, or such a trace."""
    return bool(_traces(path)) if path.is_dir() else path.name.endswith(_TRACE)


def read_servegen(path: Path) -> Description:
    """The description in a folder, or in a trace with its dataset beside it.

    Raises:
        BadInput: a file is missing or cannot be read; names file and line.
    """
    clients = tuple(_client(trace) for trace in (_traces(path) if path.is_dir() else [path]))
    found = Description(clients)
    if not clients or not found.mean_per_s:
        raise BadInput(f"{path} describes no requests: every window's rate is 0; name another.")
    return found


def _traces(path: Path) -> list[Path]:
    return sorted(
        (each for each in path.iterdir() if each.name.endswith(_TRACE)),
        key=lambda each: [int(part) for part in re.findall(r"\d+", each.name)],
    )


def _client(trace: Path) -> Client:
    stem = trace.name.removesuffix(_TRACE)
    datasets = [trace.with_name(stem + ending) for ending in _DATASETS]
    dataset = next((each for each in datasets if each.exists()), None)
    if dataset is None:
        raise BadInput(
            f"{trace} has no {datasets[0].name} beside it, which holds the lengths; put it there, "
            "packed (.gz) or not."
        )
    return Client(_windows(trace), _tables(dataset))


def _windows(trace: Path) -> tuple[Window, ...]:
    lines = [
        (number, line) for number, line in enumerate(_text(trace).splitlines(), 1) if line.strip()
    ]
    if not lines:
        raise BadInput(f"{trace} is empty; a trace has one line for every window.")
    rows = [_row(line, f"{trace}, line {number}") for number, line in lines]
    starts = [row.start_s for row in rows]
    if starts != sorted(set(starts)) or starts[0] < 0:
        raise BadInput(f"{trace}: its windows do not come in order of time; sort it by column 1.")
    lengths = [after - start for start, after in itertools.pairwise(starts)]
    lengths.append(lengths[-1] if lengths else _WINDOW_S)
    return tuple(
        Window(row.start_s, seconds, row.per_s, row.cv, row.gaps, row.shape)
        for row, seconds in zip(rows, lengths, strict=True)
    )


def _row(line: str, where: str) -> Window:
    """A window whose length is not yet known."""
    fields = line.split(",")
    if len(fields) != 6:
        raise BadInput(
            f"{where} has {len(fields)} columns, and a trace of ServeGen has 6 (start, rate, cv, "
            "distribution, shape, scale); name another file."
        )
    start, rate, cv, shape = (
        _number(fields[at], name, where)
        for at, name in ((0, "start"), (1, "rate"), (2, "cv"), (4, "shape"))
    )
    gaps = fields[3].strip()
    fitted = gaps in ("Gamma", "Weibull") and shape > 0
    return Window(start, 0.0, rate, cv, gaps, shape if fitted else None)


def _number(text: str, name: str, where: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not isfinite(found) or found < 0:
        raise BadInput(f"{where}: the {name} is no number of 0 or more; mend that line.")
    return found


def _tables(dataset: Path) -> tuple[LengthTable, ...]:
    """Windows without lengths are left out: their requests take the lengths before."""
    try:
        content = json.loads(_text(dataset))
    except (ValueError, RecursionError):
        raise BadInput(f"{dataset} is not JSON; name a dataset of ServeGen.") from None
    if not isinstance(content, dict):
        raise BadInput(f"{dataset} holds no object of windows; name a dataset of ServeGen.")
    found = []
    for start, lengths in content.items():
        where = f"{dataset}, window {start[:20]}"
        if not isinstance(lengths, dict):
            raise BadInput(f"{where} is no object; name a dataset of ServeGen.")
        inputs, outputs = (
            tuple(_shares(lengths.get(name), name, where))
            for name in ("input_tokens", "output_tokens")
        )
        if inputs and outputs:
            found.append(LengthTable(_number(start, "start", where), inputs, outputs))
    if not found:
        raise BadInput(f"{dataset} holds no lengths in any window; name another dataset.")
    return tuple(sorted(found, key=lambda table: table.start_s))


def _shares(text: Any, name: str, where: str) -> Iterator[tuple[int, float]]:
    """Pairs of tokens and share out of "{50: 0.23, 51: 0.3}"."""
    if not isinstance(text, str):
        raise BadInput(f"{where} has no {name} as text; name a dataset of ServeGen.")
    inside = text.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        raise BadInput(f'{where}: {name} is not of the form "{{tokens: share, ...}}"; mend it.')
    for item in filter(str.strip, inside[1:-1].split(",")):
        pair = _ITEM.fullmatch(item)
        tokens, share = (int(pair[1]), float(pair[2])) if pair else (0, -1.0)
        if not 0 <= share < 1e9 or tokens > 1 << 30:
            raise BadInput(f'{where}: {name} is not of the form "{{tokens: share, ...}}"; mend it.')
        if share > 0:
            yield tokens, share


def _text(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            found = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise BadInput(f"{path} cannot be read: {error}; name another file.") from None
    if len(found) > _MOST_BYTES:
        raise BadInput(f"{path} is longer than {_MOST_BYTES >> 20} MiB; name a ServeGen file.")
    return found.decode("utf-8", "replace")

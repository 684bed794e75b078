"""Cases by cause: what is drawn, so that nothing but that cause makes the server slow."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ground_truth.engine import Engine, Warp, drawn_engine
from ground_truth.front import FrontEnd, one_server
from ground_truth.later import from_moment
from ground_truth.recorded import GIB, Host, write
from ground_truth.world import Around, played
from vramledger.simulate.prefixes import Prefixes

Array = np.ndarray[Any, np.dtype[Any]]
Draw = np.random.Generator
_SPAN: Final = (100.0, 240.0)
_MOST: Final = 2500  # requests


class Load:
    """Lengths and arrivals; `rate` in requests a second over `span_s`."""

    def __init__(self, draw: Draw, mean_input: float, mean_output: float) -> None:
        self.draw, self.span_s = draw, float(draw.uniform(*_SPAN))
        spread = float(draw.uniform(0.3, 0.9))
        self.inputs = self._lengths(mean_input, spread, 14000)
        self.outputs = self._lengths(mean_output, float(draw.uniform(0.2, 0.7)), 1500)

    def _lengths(self, mean: float, spread: float, most: int) -> Array:
        found = self.draw.lognormal(np.log(mean) - spread**2 / 2, spread, _MOST)
        return np.clip(found, 4, most).astype(np.int64)

    def arrivals(self, rate: float) -> Array:
        """A Poisson stream; so long that there are some 80 requests, and no more than `_MOST`."""
        self.span_s = min(max(self.span_s, 80 / rate), _MOST * 0.9 / rate)
        count = min(self.draw.poisson(rate * self.span_s), _MOST)
        return np.sort(self.draw.uniform(0, self.span_s, count))

    def first(self, count: int) -> tuple[Array, Array]:
        """Lengths of so many."""
        return self.inputs[:count], self.outputs[:count]


def _chat(draw: Draw) -> Load:
    return Load(draw, float(draw.uniform(200, 1500)), float(draw.uniform(100, 350)))


def _rate(engine: Engine, load: Load, share: float) -> float:
    return engine.saturation(load.inputs, load.outputs) * share


def _calm(draw: Draw) -> tuple[Engine, Load]:
    """A load that its server holds easily, with the cap at the default."""
    load = _chat(draw)
    engine = drawn_engine(
        draw, float(load.inputs.mean()), float(load.outputs.mean()), max_num_seqs=256
    )
    return engine, load


def _put(folder: Path, draw: Draw, engine: Engine, load: Load, rate: float, around: Around | None = None, host: Host | None = None,
         due: Array | None = None) -> Path:  # fmt: skip
    due = load.arrivals(rate) if due is None else due
    inputs, outputs = load.first(len(due))
    seen = played(draw, engine, around or Around(), due, inputs, outputs)
    return write(folder, engine, seen, host or Host(), draw)


def healthy(folder: Path, draw: Draw) -> Path:
    """Up to half of what it holds."""
    engine, load = _calm(draw)
    return _put(folder, draw, engine, load, _rate(engine, load, float(draw.uniform(0.08, 0.4))))


def kv_cache(folder: Path, draw: Draw) -> Path:
    """A pool that holds some dozen requests, of a cap that lets many more run."""
    load = Load(draw, float(draw.uniform(500, 4000)), float(draw.uniform(200, 600)))
    engine = drawn_engine(
        draw, float(load.inputs.mean()), float(load.outputs.mean()), max_num_seqs=256
    )
    whole = float(load.inputs.mean() + load.outputs.mean())
    blocks = int(draw.uniform(8, 40) * whole / engine.settings.block_size) + 2
    longest = int((load.inputs + load.outputs).max()) // engine.settings.block_size + 2
    engine.settings = replace(engine.settings, num_blocks=max(blocks, longest))
    return _put(folder, draw, engine, load, _rate(engine, load, float(draw.uniform(1.1, 1.5))))


def sequence_cap(folder: Path, draw: Draw) -> Path:
    """A low cap, and room for more."""
    load = _chat(draw)
    cap = int(draw.integers(4, 32))
    engine = drawn_engine(
        draw, float(load.inputs.mean()), float(load.outputs.mean()), max_num_seqs=cap
    )
    return _put(folder, draw, engine, load, _rate(engine, load, float(draw.uniform(1.1, 1.6))))


def token_budget(folder: Path, draw: Draw) -> Path:
    """Long prompts and short answers."""
    while True:
        load = Load(draw, float(draw.uniform(3000, 9000)), float(draw.uniform(8, 60)))
        budget = int(draw.choice([2048, 4096, 8192]))
        engine = drawn_engine(
            draw,
            float(load.inputs.mean()),
            float(load.outputs.mean()),
            max_num_seqs=256,
            max_num_batched_tokens=budget,
        )
        if engine.room(load.inputs, load.outputs) > 25:  # the pool is not what is short
            return _put(
                folder, draw, engine, load, _rate(engine, load, float(draw.uniform(1.1, 1.4)))
            )


def decode_bandwidth(folder: Path, draw: Draw) -> Path:
    """A card of little bandwidth, long answers, and nobody who waits."""
    load = Load(draw, float(draw.uniform(200, 800)), float(draw.uniform(250, 500)))
    engine = drawn_engine(
        draw, float(load.inputs.mean()), float(load.outputs.mean()), slow=True, max_num_seqs=256
    )
    return _put(folder, draw, engine, load, _rate(engine, load, float(draw.uniform(0.45, 0.6))))


def arrivals_above_capacity(folder: Path, draw: Draw) -> Path:
    """A rush of two to four times what is held, over a part of the time, on top of a calm load; or a day's wave above it."""
    engine, load = _calm(draw)
    engine.settings = replace(engine.settings, max_num_seqs=int(draw.integers(24, 96)))
    held = _rate(engine, load, 1.0)
    load.span_s = min(max(load.span_s, 150.0, 160 / held), _MOST * 0.9 / held)
    base, top = float(draw.uniform(0.2, 0.5)), float(draw.uniform(1.6, 3.0))
    moments = np.linspace(0, load.span_s, 400)
    if draw.random() < 0.5:
        begin = draw.uniform(0.25, 0.45)
        inside = (moments > begin * load.span_s) & (
            moments < (begin + draw.uniform(0.12, 0.25)) * load.span_s
        )
        rates = np.where(inside, top, base) * held
    else:
        rates = held * (
            base
            + (top - base)
            * np.maximum(np.sin(2 * np.pi * moments / load.span_s - np.pi / 2), 0.0) ** 1.5
        )
    grown = np.concatenate(([0.0], np.cumsum((rates[1:] + rates[:-1]) / 2 * np.diff(moments))))
    count = min(draw.poisson(grown[-1]), _MOST)
    due = np.interp(np.sort(draw.uniform(0, grown[-1], count)), grown, moments)
    return _put(folder, draw, engine, load, held, due=due)


def warm_up(folder: Path, draw: Draw) -> Path:
    """Steps of the first seconds are several times as slow: compilation, lazy allocation, graphs that are captured."""
    engine, load = _calm(draw)
    lasts, slower = float(draw.uniform(8, 25)), float(draw.uniform(3, 7))
    around = Around(
        warp=Warp.slowed([(0.0, lasts / 2, slower), (lasts / 2, lasts, 1 + (slower - 1) / 2)])
    )
    return _put(
        folder,
        draw,
        engine,
        load,
        _rate(engine, load, float(draw.uniform(0.1, 0.25))),
        around,
        Host(uptime_s=float(draw.uniform(10, 100))),
    )


def neighbour(folder: Path, draw: Draw) -> Path:
    """Another process takes memory and a share of the time for some of the run, or for all of it."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.15, 0.35)))
    due = load.arrivals(rate)
    pages = np.arange(0.0, float(due.max()) * 1.5 + 400, 1.0)
    begin, end = draw.uniform(0.2, 0.4) * load.span_s, draw.uniform(0.6, 0.95) * load.span_s
    if draw.random() < 0.3:
        begin, end = 0.0, pages[-1]
    there = (pages >= begin) & (pages <= end)
    around = Around(warp=Warp.slowed([(begin, end, float(draw.uniform(1.3, 2.5)))]))
    host = Host(
        others_bytes=there * float(draw.uniform(0.6, 3.5)) * GIB,
        others_busy=there * float(draw.uniform(0.6, 1.0)),
    )
    host.free_bytes = float(draw.uniform(4, 6)) * GIB
    return _put(folder, draw, engine, load, rate, around, host, due)


def allocator_pressure(folder: Path, draw: Draw) -> Path:
    """Memory almost full; every few seconds the allocator gives cached memory back while the engine stands."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.15, 0.35)))
    due = load.arrivals(rate)
    pages = np.arange(0.0, float(due.max()) * 1.5 + 400, 1.0)
    every = float(draw.uniform(5, 14))
    moments = np.arange(every, float(due.max()), every) * 1.0
    moments = moments + draw.uniform(-0.2, 0.2, len(moments)) * every
    stands = float(draw.uniform(0.3, 1.2))
    around = Around(warp=Warp.slowed([(m, m + stands, 1e6) for m in np.sort(moments)]))
    since = np.array([t - max((m for m in moments if m <= t), default=0.0) for t in pages])
    height = float(draw.uniform(0.15, 0.6)) * GIB
    host = Host(
        cache_bytes=np.minimum(since / every, 1.0) * height,
        free_bytes=height + float(draw.uniform(0.05, 0.25)) * GIB,
    )
    return _put(folder, draw, engine, load, rate, around, host, due)


def memory_growth(folder: Path, draw: Draw) -> Path:
    """Memory of the GPU or of the host rises all the time."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.1, 0.35)))
    due = load.arrivals(rate)
    pages = np.arange(0.0, float(due.max()) * 1.5 + 400, 1.0)
    grown = np.cumsum(draw.gamma(1.0, 1.0, len(pages))) / len(pages)
    host = Host(free_bytes=6 * GIB)
    whole = len(pages) / max(load.span_s, 1.0)
    if draw.random() < 0.5:
        host.leak_bytes = grown * whole * float(draw.uniform(0.6, 2.5)) * GIB
    else:
        host.host_leak_bytes = grown * whole * float(draw.uniform(0.2, 1.0)) * GIB
    return _put(folder, draw, engine, load, rate, None, host, due)


def client(folder: Path, draw: Draw) -> Path:
    """A client with one busy core: requests leave late, the more the more come at once."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.15, 0.35)))
    due = load.arrivals(rate)
    gap = load.span_s / len(due)
    work = np.full(len(due), gap * float(draw.uniform(0.85, 1.02)))
    late = one_server(due, work) - due
    pages = np.arange(0.0, float(due.max()) * 1.5 + 400, 1.0)
    busy = np.clip(draw.normal(0.97, 0.03, len(pages)), 0, 1)
    return _put(folder, draw, engine, load, rate, Around(late_s=late), Host(client_cpu=busy), due)


def front_end(folder: Path, draw: Draw) -> Path:
    """A front end whose one core is just about enough for the load, on average."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.15, 0.35)))
    due = load.arrivals(rate)
    plain = FrontEnd(0.0008, 0.0006, 0.00002)
    inputs, outputs = load.first(len(due))
    busy = (plain.work(inputs).sum() + outputs.sum() * plain.token_s) / load.span_s
    slower = float(draw.uniform(0.85, 1.0)) / busy
    slow = FrontEnd(
        plain.request_s * slower, plain.thousand_tokens_s * slower, plain.token_s * slower
    )
    return _put(
        folder,
        draw,
        engine,
        load,
        rate,
        Around(front=slow),
        Host(scrape_s=float(draw.uniform(0.05, 0.4))),
        due,
    )


def network(folder: Path, draw: Draw) -> Path:
    """A long way."""
    engine, load = _calm(draw)
    way = float(draw.uniform(0.06, 0.4))
    around = Around(way_s=way, jitter=float(draw.uniform(0.02, 0.2)))
    return _put(
        folder,
        draw,
        engine,
        load,
        _rate(engine, load, float(draw.uniform(0.1, 0.35))),
        around,
        Host(scrape_s=2 * way),
    )


def remote_fetch(folder: Path, draw: Draw) -> Path:
    """Some or all requests wait for something from elsewhere before they reach the engine."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.1, 0.35)))
    due = load.arrivals(rate)
    share, mean = float(draw.uniform(0.3, 0.9)), float(draw.uniform(0.4, 2.5))
    fetch = (draw.random(len(due)) < share) * draw.lognormal(
        np.log(mean), float(draw.uniform(0.4, 0.9)), len(due)
    )
    return _put(folder, draw, engine, load, rate, Around(fetch_s=fetch), None, due)


def warm_prefix_cache(folder: Path, draw: Draw) -> Path:
    """The same prompts were served before, and their blocks are still there."""
    engine, load = _calm(draw)
    rate = _rate(engine, load, float(draw.uniform(0.1, 0.35)))
    due = load.arrivals(rate)
    inputs, outputs = load.first(len(due))
    room = engine.settings.num_blocks * engine.settings.block_size * 0.7
    pool = max(int(np.searchsorted(np.cumsum(inputs), room)), 2)
    if pool < len(due):  # fewer prompts, so that they fit, each sent several times
        again = np.arange(len(due)) % min(pool, len(due))
        inputs = inputs[again]
    else:
        again = np.arange(len(due))
    size = engine.settings.block_size
    lengths = inputs // size
    starts = (np.arange(again.max() + 1) + 1) * 2000
    names = np.concatenate(
        [np.arange(n) + starts[a] for a, n in zip(again.tolist(), lengths.tolist(), strict=True)]
    ).astype(np.int64)
    once = np.unique(again, return_index=True)[1]
    # the earlier pass: every prompt once, long before, with answers of one token
    firsts = [np.arange(lengths[a]) + starts[again[a]] for a in once]
    all_in = np.concatenate((inputs[once], inputs))
    all_out = np.concatenate((np.ones(len(once), np.int64), outputs))
    gap = 30 / _rate(engine, load, 1.0)
    before = np.arange(len(once)) * gap / 10
    shift = float(before.max()) + 60
    prefixes = Prefixes(
        np.concatenate((*firsts, names)).astype(np.int64),
        np.concatenate((lengths[once], lengths)),
        1,
    )
    seen = played(
        draw,
        engine,
        Around(prefixes=prefixes),
        np.concatenate((before, due + shift)),
        all_in,
        all_out,
    )
    return _without_first(folder, draw, engine, seen, len(once), shift)


def _without_first(
    folder: Path, draw: Draw, engine: Engine, seen: Any, first: int, shift: float
) -> Path:
    """The run from `shift` on; counters of the pages begin where they stood."""
    return from_moment(folder, draw, engine, seen, first, shift - 1)


CASES: Final[dict[str, Callable[[Path, Draw], Path]]] = {
    each.__name__: each
    for each in (kv_cache, sequence_cap, token_budget, decode_bandwidth, arrivals_above_capacity, warm_up, neighbour, allocator_pressure,
                 memory_growth, client, front_end, network, remote_fetch, warm_prefix_cache, healthy)
}  # fmt: skip


def made(cause: str, seed: int, folder: Path) -> Path:
    """The case of a cause and a seed; the same each time."""
    return CASES[cause](folder, np.random.default_rng([seed, zlib.crc32(cause.encode())]))

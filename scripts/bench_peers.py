"""Other load generators beside the server that logs true times: what they carry on one core, and how far off they are."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar

from client_peers import PEERS, Peer, Reported
from client_questions import (
    ACCURACY,
    CAPACITY,
    CLIENT_CORE,
    SERVER_CORE,
    STREAMS_256,
    Question,
    p99,
    prefix,
    rate_of,
)
from truth_server import TrueRequest, truth_server

NEARLY_ALL = 0.9
Read = TypeVar("Read")
Ours: TypeAlias = Callable[[Question, tuple[str, ...], argparse.Namespace], float]


def beside_peers(ours: Ours, options: argparse.Namespace) -> Iterator[str]:
    """The same questions to whoever is installed; yields where we are not ahead by the factor.

    `ours` is our own rate at a question. It is measured again after each run of a peer, and the ratio told is the
    median over these pairs: on a machine that others use as well, figures of different minutes do not compare. Where we
    read nearly all that the server offers, the ratio is bounded by that and counts as held.
    """
    print(f"\n{'':20}{'':28}{'tokens/s':>10}{'requests/s':>12}")
    for peer in PEERS:
        tool = peer.find()
        if tool is None:
            print(f"{peer.name:20}not installed, so not measured")
            continue
        for question, arguments in CAPACITY.items():
            pairs = [
                (rate, ours(question, arguments, options))
                for rate in asked_of(peer, tool, question, arguments, options, rate_seen)
            ]
            if not pairs:
                print(f"{peer.name:20}{question.name:28}would not run")
                continue
            rate = statistics.median(rate for rate, _ in pairs)
            own = statistics.median(own for _, own in pairs)
            factor = statistics.median(own / rate for rate, own in pairs)
            all_offered = own > NEARLY_ALL * question.offered_s
            print(
                f"{peer.name:20}{question.name:28}{rate * question.tokens:10,.0f}{rate:12,.0f}   we: {factor:.1f}x"
                f"{', of what is offered nearly all' * all_offered}",
                flush=True,
            )
            if factor < peer.factor and not all_offered:
                yield f"{peer.factor:g}x {peer.name} ({question.name})"
        beside_truth(peer, tool, options)


def beside_truth(peer: Peer, tool: Path, options: argparse.Namespace) -> None:
    """Print how far a peer's figures are from the truth where ours are measured."""
    runs = list(asked_of(peer, tool, STREAMS_256, ACCURACY[STREAMS_256], options, off_truth))
    if runs:
        ttft = statistics.median(run.ttft_ms for run in runs)
        itl = statistics.median(run.itl_p99_ms for run in runs)
        print(
            f"{peer.name:20}{STREAMS_256.name:28}TTFT {ttft:+.1f} ms, ITL p99 {itl:+.1f} ms off truth"
        )


@dataclass(frozen=True)
class Run:
    """A run of a peer that came to its end: the question, where it wrote its report, and what the server's log says."""

    peer: Peer
    question: Question
    folder: Path
    true: list[TrueRequest]


def asked_of(
    peer: Peer,
    tool: Path,
    asked: Question,
    arguments: tuple[str, ...],
    options: argparse.Namespace,
    read: Callable[[Run], Read],
) -> Iterator[Read]:
    """What is read of each of its runs that came to an end; what stopped another goes to standard error."""
    question = peer.size(asked)
    for _ in range(options.repeat_peers):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "truth.csv"
            with truth_server(log, *arguments, prefix=prefix(SERVER_CORE, options)) as server:
                command = peer.command(tool, server.url, question, Path(folder))
                done = subprocess.run(
                    [*prefix(CLIENT_CORE, options), *command],
                    env=os.environ | peer.environment,
                    capture_output=True,
                    check=False,
                    timeout=600,
                )
            true = [each for each in server.requests().values() if each.ending == "ok"]
            if done.returncode or len(true) < question.requests:
                sys.stderr.write(done.stderr.decode(errors="replace")[-2_000:])
                continue
            yield read(Run(peer, question, Path(folder), true))


def rate_seen(run: Run) -> float:
    """Requests a second, by the log."""
    return rate_of(run.true, run.question)


def off_truth(run: Run) -> Reported:
    """How much more the peer reports than the log says."""
    told = run.peer.report(run.folder)
    ttft = statistics.fmean(each.first_ns - each.received_ns for each in run.true) / 1e6
    gaps = [b - a for each in run.true for a, b in pairwise(each.offsets_us)]
    return Reported(told.ttft_ms - ttft, told.itl_p99_ms - p99(gaps) / 1e3)
